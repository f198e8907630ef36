// The eager engine differentiates gradient programs, also those that add up in place: it sees values, not memory.
//
// RUN: pir-opt --pass=backward,inplace-accumulate %s > %t.pir
// RUN: FileCheck --check-prefix=PLACE %s < %t.pir
// RUN: pir-run --eager-grad %t.pir --input 'x=[1, 2]' --input 'w=[3, 0.5]' > %t.place
// RUN: pir-opt --pass=backward %s | pir-run --eager-grad - --input 'x=[1, 2]' --input 'w=[3, 0.5]' > %t.plain
// RUN: diff %t.place %t.plain
// RUN: pir-opt --pass='backward,backward{of=[y,x_grad,w_grad]}' %s | pir-run - --input 'x=[1, 2]' --input 'w=[3, 0.5]' > %t.pass
// RUN: diff %t.place %t.pass
// RUN: FileCheck %s < %t.place
//
// PLACE: pd.inplace_add
// CHECK: y = tensor<2xf64> [9, 0.5]
// CHECK-NEXT: x_grad = tensor<2xf64> [9, 0.25]
// CHECK-NEXT: w_grad = tensor<2xf64> [6, 2]
// CHECK-NEXT: x_grad_2 = tensor<2xf64> [15, 1.25]
// CHECK-NEXT: w_grad_2 = tensor<2xf64> [14, 7]
%x = pd.data {name = "x", shape = [2], dtype = f64} : tensor<2xf64>
%w = pd.parameter {name = "w"} : tensor<2xf64>
%zero = pd.full {shape = [1], value = 0, dtype = i64} : tensor<1xi64>
%one = pd.full {shape = [1], value = 1, dtype = i64} : tensor<1xi64>
%two = pd.full {shape = [1], value = 2, dtype = i64} : tensor<1xi64>
%k, %y = pd.while (%zero, %x) cond (%i: tensor<1xi64>, %a: tensor<2xf64>) {
  %go = pd.less_than (%i, %two) : tensor<1xi1>
  cf.cond_yield (%go, %i, %a)
} body (%j: tensor<1xi64>, %b: tensor<2xf64>) {
  %next = pd.add (%j, %one) : tensor<1xi64>
  %c = pd.multiply (%b, %w) : tensor<2xf64>
  cf.yield (%next, %c)
} : tensor<1xi64>, tensor<2xf64>
pd.fetch (%y) {name = "y"}
