// The eager engine gives the gradients that the pass gives, through a loop, a branch and a stack of the program's own.
//
// RUN: pir-run --eager-grad %s --input 'x=[1, 2]' --input 'w=[3, 0.5]' --input 'c=[2, 2]' --input n=3 > %t.eager
// RUN: pir-opt --pass=backward %s | pir-run - --input 'x=[1, 2]' --input 'w=[3, 0.5]' --input 'c=[2, 2]' \
// RUN:   --input n=3 > %t.pass
// RUN: diff %t.eager %t.pass
// RUN: FileCheck %s < %t.eager
//
// CHECK: y = tensor<2xf64> [54, 0.5]
// CHECK-NEXT: x_grad = tensor<2xf64> [54, 0.25]
// CHECK-NEXT: w_grad = tensor<2xf64> [54, 3]
// Neither what says so, nor integers, nor what reaches no output differentiably has one.
// CHECK-NOT: _grad
%x = pd.data {name = "x", shape = [2], dtype = f64} : tensor<2xf64>
%w = pd.parameter {name = "w"} : tensor<2xf64>
%c = pd.data {name = "c", shape = [2], dtype = f64, stop_gradient = true} : tensor<2xf64>
%n = pd.data {name = "n", shape = [1], dtype = i64} : tensor<1xi64>
%zero = pd.full {shape = [1], value = 0, dtype = i64} : tensor<1xi64>
%one = pd.full {shape = [1], value = 1, dtype = i64} : tensor<1xi64>
%stack = cf.create_stack () : cf.stack
%k, %power = pd.while (%zero, %x) cond (%i: tensor<1xi64>, %a: tensor<2xf64>) {
  %go = pd.less_than (%i, %n) : tensor<1xi1>
  cf.cond_yield (%go, %i, %a)
} body (%j: tensor<1xi64>, %b: tensor<2xf64>) {
  %next = pd.add (%j, %one) : tensor<1xi64>
  %d = pd.multiply (%b, %w) : tensor<2xf64>
  cf.push_back (%stack, %d)
  cf.yield (%next, %d)
} : tensor<1xi64>, tensor<2xf64>
%some = pd.less_than (%zero, %n) : tensor<1xi1>
%last = pd.if (%some) then {
  %top = cf.pop_back (%stack) : tensor<2xf64>
  %y = pd.multiply (%top, %c) : tensor<2xf64>
  cf.yield (%y)
} else {
  cf.yield (%power)
} : tensor<2xf64>
pd.fetch (%last) {name = "y"}
