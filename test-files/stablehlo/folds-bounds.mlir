// Numbers between bounds, and slices of slices. `tests/stablehlo.rs` runs it before and after.
// RUN: pir-opt --pass=canonicalize %s | FileCheck %s

module @bounds {
  func.func public @main(%x: tensor<2x3xf64>) -> (tensor<f64>, tensor<f64>, tensor<f64>, tensor<f64>, tensor<i32>, tensor<i32>, tensor<1x2xf64>, tensor<2xf64>, tensor<0xf64>) {
    %low = stablehlo.constant dense<-1.0> : tensor<f64>
    %high = stablehlo.constant dense<2.0> : tensor<f64>
    %five = stablehlo.constant dense<5.0> : tensor<f64>
    %nan = stablehlo.constant dense<0x7FF8000000000000> : tensor<f64>
    %minus = stablehlo.constant dense<-0.0> : tensor<f64>
    %a = stablehlo.clamp %low, %five, %high : tensor<f64>
    %b = stablehlo.clamp %low, %nan, %high : tensor<f64>
    %c = stablehlo.clamp %five, %low, %high : tensor<f64>
    %d = stablehlo.clamp %minus, %minus, %high : tensor<f64>
    %one = stablehlo.constant dense<1> : tensor<i32>
    %nine = stablehlo.constant dense<9> : tensor<i32>
    %e = stablehlo.clamp %one, %nine, %nine : tensor<i32>
    %f = stablehlo.clamp %nine, %one, %one : tensor<i32>
    %s = stablehlo.slice %x [0:2, 1:3] : (tensor<2x3xf64>) -> tensor<2x2xf64>
    %g = stablehlo.slice %s [1:2, 0:2] : (tensor<2x2xf64>) -> tensor<1x2xf64>
    %flat = stablehlo.reshape %x : (tensor<2x3xf64>) -> tensor<6xf64>
    %odd = stablehlo.slice %flat [1:6:2] : (tensor<6xf64>) -> tensor<3xf64>
    %h = stablehlo.slice %odd [0:3:2] : (tensor<3xf64>) -> tensor<2xf64>
    %nothing = stablehlo.slice %odd [0:0] : (tensor<3xf64>) -> tensor<0xf64>
    return %a, %b, %c, %d, %e, %f, %g, %h, %nothing : tensor<f64>, tensor<f64>, tensor<f64>, tensor<f64>, tensor<i32>, tensor<i32>, tensor<1x2xf64>, tensor<2xf64>, tensor<0xf64>
  }
}

// CHECK: %a = stablehlo.constant {value = dense<2.000000e+00>
// CHECK: %b = stablehlo.clamp (%low, %nan, %high)
// CHECK: %c = stablehlo.clamp (%five, %low, %high)
// CHECK: %d = stablehlo.clamp
// CHECK: %e = stablehlo.constant {value = dense<9>
// CHECK: %f = stablehlo.clamp (%nine, %one, %one)
// CHECK: %g = stablehlo.slice (%x) {limit_indices = array<i64: 2, 3>, start_indices = array<i64: 1, 1>
// CHECK: %h = stablehlo.slice (%flat) {limit_indices = array<i64: 6>, start_indices = array<i64: 1>, strides = array<i64: 4>
// CHECK: %nothing = stablehlo.slice (%odd)
