// Differences tell that a derivative is wrong, whatever `backward` is told.
// RUN: not pir-run --check-grad %s --input x=[1,2] 2>&1 | FileCheck %s
// RUN: not pir-run --check-grad --function f %s --input x=[1,2] 2>&1 | FileCheck %s
// RUN: pir-opt --pass='inline{custom-vjp=true}' %s | pir-run --check-grad - --input x=[1,2] | FileCheck %s --check-prefix=BODY
// CHECK: x {{.*}} WRONG
// BODY: x {{.*}} ok
func.func @f(%x: tensor<2xf64>) -> tensor<2xf64> attributes {custom_vjp = @f_vjp} {
  %y = pd.square (%x) : tensor<2xf64>
  func.return (%y)
}
func.func @f_vjp(%x: tensor<2xf64>, %y: tensor<2xf64>, %y_grad: tensor<2xf64>) -> tensor<2xf64> {
  %x_grad = pd.multiply (%x, %y_grad) : tensor<2xf64>
  func.return (%x_grad)
}
%x = pd.data {name = "x", shape = [2], dtype = f64} : tensor<2xf64>
%y = func.call @f (%x) : tensor<2xf64>
pd.fetch (%y) {name = "y"}
