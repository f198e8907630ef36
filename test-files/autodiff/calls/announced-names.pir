// RUN: pir-opt --pass=stack-locals{wrt=[x]},backward{wrt=[c]} %s | FileCheck %s

// The functions that `stack-locals` makes for a call announce adjoints that are not there yet: `backward` gives its own other names.
// CHECK: func.func private @f.augmented_2(
// CHECK: func.func private @f.adjoint_2(
// CHECK: func.func private @f.augmented(
// CHECK: func.func private @f.adjoint(
func.func private @f(%x: tensor<4xf64>) -> tensor<4xf64> {
  %y = pd.sin (%x)
  func.return (%y)
}
func.func @g(%x: tensor<4xf64>) -> tensor<4xf64> {
  %a = func.call @f (%x) : tensor<4xf64>
  func.return (%a)
}
func.func @main(%c: tensor<4xf64>) -> tensor<4xf64> {
  %b = func.call @f (%c) : tensor<4xf64>
  func.return (%b)
}
