// What JAX lowers `logistic` to has its derivative: zero, and not zero times infinity, far below zero. The derivative of a remainder
// by a dividend of zero is one.
// RUN: pir-opt --pass=backward %s | FileCheck %s
// RUN: pir-opt --pass=backward %s | pir-run --entry sigmoid --input='x=[-200,-90,0]' - | FileCheck %s --check-prefix=VALUE
// RUN: pir-opt --pass=backward %s | pir-run --entry rest --input='x=[0,5.5,-3]' --input='y=[7,2,2]' - | FileCheck %s --check-prefix=REST

// CHECK-LABEL: @sigmoid(
// CHECK: stablehlo.logistic (%x)
// CHECK-NOT: stablehlo.exponential
// CHECK: return
// VALUE: out:1 = tensor<3xf32> [0, 0, 0.25]
func.func @sigmoid(%x: tensor<3xf32>) -> tensor<3xf32> {
  %one = stablehlo.constant dense<1.0> : tensor<f32>
  %ones = stablehlo.broadcast_in_dim %one, dims = [] : (tensor<f32>) -> tensor<3xf32>
  %0 = stablehlo.negate %x : tensor<3xf32>
  %1 = stablehlo.exponential %0 : tensor<3xf32>
  %2 = stablehlo.add %1, %ones : tensor<3xf32>
  %3 = stablehlo.divide %ones, %2 : tensor<3xf32>
  return %3 : tensor<3xf32>
}

// Another number is another function, and what else reads the power keeps it.
// CHECK-LABEL: @other(
// CHECK-NOT: stablehlo.logistic
// CHECK: stablehlo.exponential
// CHECK: stablehlo.divide
func.func @other(%x: tensor<3xf32>) -> (tensor<3xf32>, tensor<3xf32>) {
  %two = stablehlo.constant dense<2.0> : tensor<3xf32>
  %0 = stablehlo.negate %x : tensor<3xf32>
  %1 = stablehlo.exponential %0 : tensor<3xf32>
  %2 = stablehlo.add %two, %1 : tensor<3xf32>
  %3 = stablehlo.divide %two, %2 : tensor<3xf32>
  return %3, %1 : tensor<3xf32>, tensor<3xf32>
}

// REST: out:0 = tensor<3xf64> [0, 1.5, -1]
// REST: out:1 = tensor<3xf64> [1, 1, 1]
// REST: out:2 = tensor<3xf64> [0, -2, 1]
func.func @rest(%x: tensor<3xf64>, %y: tensor<3xf64>) -> tensor<3xf64> {
  %0 = stablehlo.remainder %x, %y : tensor<3xf64>
  return %0 : tensor<3xf64>
}
