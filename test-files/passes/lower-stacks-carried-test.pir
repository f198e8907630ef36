// RUN: not pir-opt --pass=lower-stacks %s 2>&1 | FileCheck %s --check-prefix=ROTATED
// A rotated loop carries whether a stack is empty.
%x = pd.data {name = "x", shape = [2], dtype = f64} : tensor<2xf64>
%s = cf.create_stack () : cf.stack
cf.push_back (%s, %x)
%e = cf.is_empty (%s) : i1
%go = pd.logical_not (%e) : i1
%y = pd.while (%go, %x) cond (%g: i1, %a: tensor<2xf64>) {
  cf.cond_yield (%g, %a)
} body (%b: tensor<2xf64>) {
  %v = cf.pop_back (%s) : tensor<2xf64>
  %d = pd.add (%v, %b) : tensor<2xf64>
  %f = cf.is_empty (%s) : i1
  %h = pd.logical_not (%f) : i1
  cf.yield (%h, %d)
} : tensor<2xf64>
pd.fetch (%y) {name = "y"}
// ROTATED: error: a loop or branch carries whether a stack is empty
// ROTATED: help: test the stack in the condition of the loop: run `lower-stacks` before `rotate-while`
