// RUN: pir-opt --pass=inline,symbol-dce %s | FileCheck %s
// RUN: pir-opt --pass=inline,symbol-dce %s | pir-run - --input x=[[0.5,-1,2],[3,0.25,1]] --input s=[1,2,3] --input o=[0,1,-1] --check-grad | FileCheck --check-prefix=GRAD %s

// CHECK: stablehlo.batch_norm_training
// CHECK-NOT: composite
// CHECK: stablehlo.logistic
// CHECK: stablehlo.batch_norm_inference
// GRAD: x {{.*}} ok
// GRAD: s {{.*}} ok
// GRAD: o {{.*}} ok
func.func @main(%x: tensor<2x3xf64>, %s: tensor<3xf64>, %o: tensor<3xf64>) -> tensor<2x3xf64> {
  %0:3 = "stablehlo.batch_norm_training"(%x, %s, %o) <{epsilon = 1.0e-3 : f32, feature_index = 1 : i64}> : (tensor<2x3xf64>, tensor<3xf64>, tensor<3xf64>) -> (tensor<2x3xf64>, tensor<3xf64>, tensor<3xf64>)
  %1 = stablehlo.composite "my.silu" %0#0 {decomposition = @silu} : (tensor<2x3xf64>) -> tensor<2x3xf64>
  %2 = "stablehlo.batch_norm_inference"(%1, %s, %o, %0#1, %0#2) <{epsilon = 1.0e-3 : f32, feature_index = 1 : i64}> : (tensor<2x3xf64>, tensor<3xf64>, tensor<3xf64>, tensor<3xf64>, tensor<3xf64>) -> tensor<2x3xf64>
  return %2 : tensor<2x3xf64>
}

func.func private @silu(%x: tensor<2x3xf64>) -> tensor<2x3xf64> {
  %0 = stablehlo.logistic %x : tensor<2x3xf64>
  %1 = stablehlo.multiply %0, %x : tensor<2x3xf64>
  return %1 : tensor<2x3xf64>
}
