// RUN: pir-run %s --input x=[1,2] --input n=3 | FileCheck %s
// RUN: pir-opt --pass=lower-to-dataflow %s | pir-run --dataflow - --input x=[1,2] --input n=3 | FileCheck %s
// RUN: pir-opt --pass=lower-to-dataflow,raise-from-dataflow %s | pir-run - --input x=[1,2] --input n=3 | FileCheck %s
// RUN: pir-opt --pass=lower-to-dataflow %s | FileCheck %s --check-prefix=ORDER
// Stacks that are made at top level, as in TensorFlow's graphs with gradients. The first one is used twice in one iteration, and
// at top level: what is pushed first is popped last.
// CHECK: y = tensor<2xf64> [13, 44]
// CHECK: z = tensor<2xf64> [1, 2]
// The push of the first stack in the loop comes after the one at top level, and the second one after the first.
// ORDER: %0 = df.stack_push
// ORDER: df.control ({{%[0-9]+}}, %0)
// ORDER: [[SECOND:%[0-9]+]] = df.stack_push
// ORDER: df.control ({{%[0-9]+}}, [[SECOND]])
%x = pd.data {name = "x", shape = [2], dtype = f64} : tensor<2xf64>
%n = pd.data {name = "n", shape = [], dtype = i64} : tensor<i64>
%zero = pd.full {shape = [], value = 0, dtype = i64} : tensor<i64>
%s = cf.create_stack : cf.stack
%t = cf.create_stack : cf.stack
cf.push_back (%s, %x)
%i_end, %y_end = pd.while (%zero, %x) cond (%i: tensor<i64>, %a: tensor<2xf64>) {
  %go = pd.less_than (%i, %n) : tensor<i1>
  cf.cond_yield (%go, %i, %a)
} body (%i_b: tensor<i64>, %a_b: tensor<2xf64>) {
  %next = pd.increment (%i_b) {value = 1.0} : tensor<i64>
  cf.push_back (%s, %a_b)
  %b = pd.add (%a_b, %x) : tensor<2xf64>
  cf.push_back (%s, %b)
  cf.push_back (%t, %b)
  cf.yield (%next, %b)
} : tensor<i64>, tensor<2xf64>
%start = pd.full {shape = [2], value = 0.0, dtype = f64} : tensor<2xf64>
%j_end, %sum = pd.while (%zero, %start) cond (%j: tensor<i64>, %c: tensor<2xf64>) {
  %more = pd.less_than (%j, %n) : tensor<i1>
  cf.cond_yield (%more, %j, %c)
} body (%j_b: tensor<i64>, %c_b: tensor<2xf64>) {
  %next_j = pd.increment (%j_b) {value = 1.0} : tensor<i64>
  %p = cf.pop_back (%s) : tensor<2xf64>
  %q = cf.pop_back (%s) : tensor<2xf64>
  %r = cf.pop_back (%t) : tensor<2xf64>
  %d = pd.subtract (%p, %q) : tensor<2xf64>
  %e = pd.multiply (%d, %r) : tensor<2xf64>
  %f = pd.add (%c_b, %e) : tensor<2xf64>
  cf.yield (%next_j, %f)
} : tensor<i64>, tensor<2xf64>
%last = cf.pop_back (%s) : tensor<2xf64>
%y = pd.add (%sum, %y_end) : tensor<2xf64>
pd.fetch (%y) {name = "y"}
pd.fetch (%last) {name = "z"}
