// A derivative that cannot stand in the place of a call is called: this one has a derivative of its own, that one several blocks.
// RUN: pir-opt --pass=backward %s | FileCheck %s
// RUN: pir-opt --pass=backward %s | pir-run - --input x=2 --input y=3 | FileCheck %s --check-prefix=FIRST
// RUN: pir-opt --pass='backward{wrt=x},backward{wrt=x of=x_grad}' %s | pir-run - --input x=2 --input y=3 | FileCheck %s --check-prefix=SECOND
// RUN: not pir-opt --pass='backward{wrt=y},backward{wrt=y of=y_grad}' %s 2>&1 | FileCheck %s --check-prefix=BLOCKS
// CHECK: func.call @g_vjp (%y, %b, %b_grad) : tensor<f64>
// CHECK: func.call @f_vjp (%x, %a, {{.*}}) : tensor<f64>
// FIRST: x_grad = tensor<f64> 108
// FIRST: y_grad = tensor<f64> 48
// The derivative that @f_vjp names is a hundred times too large.
// SECOND: x_grad_2 = tensor<f64> 10800
// BLOCKS: error: `func.call` has no derivative
// BLOCKS: help: inline the called function first
func.func private @f(%x: tensor<f64>) -> tensor<f64> attributes {custom_vjp = @f_vjp} {
  %y = pd.pow (%x) {y = 3.0} : tensor<f64>
  func.return (%y)
}
func.func private @f_vjp(%x: tensor<f64>, %y: tensor<f64>, %g: tensor<f64>) -> tensor<f64> attributes {custom_vjp = @f_vjp_vjp} {
  %s = pd.square (%x) : tensor<f64>
  %t = pd.scale (%s) {scale = 3.0} : tensor<f64>
  %d = pd.multiply (%t, %g) : tensor<f64>
  func.return (%d)
}
func.func private @f_vjp_vjp(%x: tensor<f64>, %y: tensor<f64>, %g: tensor<f64>, %d: tensor<f64>, %dg: tensor<f64>) -> (tensor<f64>, tensor<f64>, tensor<f64>) {
  %s = pd.scale (%x) {scale = 600.0} : tensor<f64>
  %t = pd.multiply (%s, %g) : tensor<f64>
  %a = pd.multiply (%t, %dg) : tensor<f64>
  %zero = pd.full_like (%y) {value = 0.0} : tensor<f64>
  func.return (%a, %zero, %zero)
}
func.func private @g(%x: tensor<f64>) -> tensor<f64> attributes {custom_vjp = @g_vjp} {
  %y = pd.square (%x) : tensor<f64>
  func.return (%y)
}
func.func private @g_vjp(%x: tensor<f64>, %y: tensor<f64>, %g: tensor<f64>) -> tensor<f64> {
  pd.branch ^end
^end:
  %t = pd.scale (%x) {scale = 2.0} : tensor<f64>
  %d = pd.multiply (%t, %g) : tensor<f64>
  func.return (%d)
}
%x = pd.data {name = "x", shape = [], dtype = f64} : tensor<f64>
%y = pd.data {name = "y", shape = [], dtype = f64} : tensor<f64>
%a = func.call @f (%x) : tensor<f64>
%b = func.call @g (%y) : tensor<f64>
%c = pd.multiply (%a, %b) : tensor<f64>
pd.fetch (%c) {name = "c"}
