// A power that calls itself, and whose derivative calls it: what stands in the place of a call is differentiated in turn.
// RUN: pir-run --check-grad %s --input x=1.5 | FileCheck %s --check-prefix=RIGHT
// RUN: pir-run --check-grad --function pow %s --input x=1.5 --input n=4 | FileCheck %s --check-prefix=RIGHT
// RUN: pir-run --eager-grad --function pow %s --input x=1.5 --input n=4 | FileCheck %s --check-prefix=EAGER
// RUN: pir-opt --pass=backward,backward,backward %s | pir-run - --input x=1.5 | FileCheck %s --check-prefix=ORDERS
// RUN: pir-opt --pass=backward,symbol-dce %s | FileCheck %s

// CHECK: func.func private @pow(
// CHECK: func.func private @pow_vjp(
// CHECK: %x_grad = pd.multiply
// RIGHT: x {{.*}} ok
// EAGER: x_grad = tensor<f64> 13.5
// ORDERS: x_grad = tensor<f64> 13.5
// ORDERS: x_grad_2 = tensor<f64> 40.5
// ORDERS: x_grad_3 = tensor<f64> 103.5
func.func private @pow(%x: tensor<f64>, %n: tensor<i64>) -> tensor<f64> attributes {custom_vjp = @pow_vjp} {
  %zero = pd.full {shape = [], value = 0, dtype = i64} : tensor<i64>
  %more = pd.greater_than (%n, %zero) : tensor<i1>
  %r = pd.if (%more) then {
    %m = pd.increment (%n) {value = -1.0} : tensor<i64>
    %p = func.call @pow (%x, %m) : tensor<f64>
    %q = pd.multiply (%p, %x) : tensor<f64>
    cf.yield (%q)
  } else {
    %one = pd.full {shape = [], value = 1.0, dtype = f64} : tensor<f64>
    cf.yield (%one)
  } : tensor<f64>
  func.return (%r)
}
func.func private @pow_vjp(%x: tensor<f64>, %n: tensor<i64>, %y: tensor<f64>, %g: tensor<f64>) -> tensor<f64> {
  %m = pd.increment (%n) {value = -1.0} : tensor<i64>
  %p = func.call @pow (%x, %m) : tensor<f64>
  %c = pd.cast (%n) {dtype = f64} : tensor<f64>
  %a = pd.multiply (%p, %c) : tensor<f64>
  %x_grad = pd.multiply (%a, %g) : tensor<f64>
  func.return (%x_grad)
}
%x = pd.data {name = "x", shape = [], dtype = f64} : tensor<f64>
%n = pd.full {shape = [], value = 4, dtype = i64} : tensor<i64>
%y = func.call @pow (%x, %n) : tensor<f64>
pd.fetch (%y) {name = "y"}
