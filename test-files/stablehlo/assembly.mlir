// MLIR's custom assembly is read beside our own form, which it is printed in.
// RUN: pir-opt %s | FileCheck %s

// CHECK-LABEL: func.func public @main
func.func public @main(%a: tensor<4xf64>, %p: tensor<i1>) -> (tensor<4xf64> {jax.result_info = "result"}) {
  // CHECK-NEXT: %c = stablehlo.constant {value = dense<0> : tensor<i32>} : tensor<i32>
  %c = stablehlo.constant dense<0> : tensor<i32>
  %z = stablehlo.constant {value = dense<0.0> : tensor<f64>} : tensor<f64>
  // CHECK: %0 = stablehlo.add (%a, %a) : tensor<4xf64>
  %0 = stablehlo.add %a, %a : tensor<4xf64>
  // CHECK-NEXT: %1 = stablehlo.add (%a, %0) : tensor<4xf64>
  %1 = stablehlo.add (%a, %0) : tensor<4xf64>
  // CHECK-NEXT: %2 = stablehlo.slice (%1) {limit_indices = array<i64: 4>, start_indices = array<i64: 1>, strides = array<i64: 2>} : tensor<2xf64>
  %2 = stablehlo.slice %1 [1:4:2] : (tensor<4xf64>) -> tensor<2xf64>
  // CHECK-NEXT: %3 = stablehlo.reduce (%1, %z) {dimensions = array<i64: 0>} body (%[[L:.*]]: tensor<f64>, %[[R:.*]]: tensor<f64>) {
  // CHECK-NEXT: %[[S:.*]] = stablehlo.add (%[[L]], %[[R]]) : tensor<f64>
  // CHECK-NEXT: stablehlo.return (%[[S]])
  %3 = stablehlo.reduce(%1 init: %z) applies stablehlo.add across dimensions = [0] : (tensor<4xf64>, tensor<f64>) -> tensor<f64>
  // CHECK: %4:2 = stablehlo.while (%c, %1) cond (%i: tensor<i32>, %x: tensor<4xf64>) {
  %4:2 = stablehlo.while(%i = %c, %x = %1) : tensor<i32>, tensor<4xf64>
  cond {
    stablehlo.return %p : tensor<i1>
  } do {
    // CHECK: } body (%i: tensor<i32>, %x: tensor<4xf64>) {
    // CHECK-NEXT: func.call @g (%x) : tensor<4xf64>
    %5 = func.call @g(%x) : (tensor<4xf64>) -> tensor<4xf64>
    stablehlo.return %i, %5 : tensor<i32>, tensor<4xf64>
  }
  // CHECK: stablehlo.while cond {
  stablehlo.while()
  cond {
    stablehlo.return %p : tensor<i1>
  } do {
    stablehlo.return
  }
  return %4#1 : tensor<4xf64>
}

func.func private @g(%a: tensor<4xf64>) -> tensor<4xf64> {
  return %a : tensor<4xf64>
}
