// One adjoint function for all calls of a function, in loops and in other functions too; nothing is inlined.
// RUN: pir-opt --pass=backward,symbol-dce,canonicalize %s | FileCheck %s
// RUN: pir-opt --pass=backward %s | pir-run - --input x=[0.9,1.1] --input w=[1.2,0.8] | FileCheck %s --check-prefix=NUMBERS
// RUN: pir-opt --pass=inline,backward %s | pir-run - --input x=[0.9,1.1] --input w=[1.2,0.8] | FileCheck %s --check-prefix=NUMBERS
// RUN: pir-run --check-grad %s --input x=[0.9,1.1] --input w=[1.2,0.8] | FileCheck %s --check-prefix=DIFFERENCES
// RUN: pir-opt --pass=backward,backward %s | pir-run - --input x=[0.9,1.1] --input w=[1.2,0.8] | FileCheck %s --check-prefixes=NUMBERS,SECOND

// NUMBERS: s = tensor<f64> 0.01032108
// NUMBERS-NEXT: x_grad = tensor<2xf64> [0.40659092{{.*}}, 0.00008986175{{.*}}]
// NUMBERS-NEXT: w_grad = tensor<2xf64> [0.28153544{{.*}}, 0.00018397573{{.*}}]
// SECOND: x_grad_2 = tensor<2xf64> [24.4232665{{.*}}, 0.00575983{{.*}}]
// DIFFERENCES: {{^x .* ok }}
// DIFFERENCES: {{^w .* ok }}

// CHECK: func.func private @square(
// CHECK-COUNT-1: func.func private @square.augmented(%x: tensor<?xf64>) -> (tensor<?xf64>, cf.stack)
// CHECK-COUNT-1: func.func private @square.adjoint(%tape: cf.stack, %ct0: tensor<?xf64>) -> tensor<?xf64>
// CHECK-NOT: func.call
// CHECK: func.func private @twice(
func.func private @square(%x: tensor<?xf64>) -> tensor<?xf64> {
  %y = pd.multiply (%x, %x) : tensor<?xf64>
  %z = pd.sin (%y) : tensor<?xf64>
  func.return (%z)
}
// Nothing is computed twice.
// CHECK: func.func private @twice.augmented(
// CHECK-COUNT-2: func.call @square.augmented (
// CHECK: func.func private @twice.adjoint(
// CHECK-NOT: func.call @square (
// CHECK-NOT: func.call @square.augmented (
// CHECK-COUNT-2: func.call @square.adjoint (
// CHECK-NOT: func.call @square
func.func private @twice(%x: tensor<?xf64>, %w: tensor<?xf64>) -> tensor<?xf64> {
  %a = func.call @square (%x) : tensor<?xf64>
  %b = pd.multiply (%a, %w) : tensor<?xf64>
  %c = func.call @square (%b) : tensor<?xf64>
  func.return (%c)
}
%x = pd.data {name = "x", shape = [2], dtype = f64} : tensor<2xf64>
%w = pd.data {name = "w", shape = [2], dtype = f64} : tensor<2xf64>
%limit = pd.full {shape = [], value = 3.0, dtype = f64} : tensor<f64>
%zero = pd.full {shape = [], value = 0.0, dtype = f64} : tensor<f64>
%one = pd.full {shape = [], value = 1.0, dtype = f64} : tensor<f64>
// CHECK: pd.while
// CHECK: func.call @twice.augmented (
// CHECK: pd.while_grad
// CHECK: func.call @twice.adjoint (
%n, %y = pd.while (%zero, %x) cond (%i: tensor<f64>, %a: tensor<2xf64>) {
  %go = pd.less_than (%i, %limit) : tensor<i1>
  cf.cond_yield (%go, %i, %a)
} body (%i: tensor<f64>, %a: tensor<2xf64>) {
  %b = func.call @twice (%a, %w) : tensor<2xf64>
  %j = pd.add (%i, %one) : tensor<f64>
  cf.yield (%j, %b)
}
%s = pd.sum (%y) : tensor<f64>
pd.fetch (%s) {name = "s"}
