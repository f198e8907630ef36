// Folds and patterns of StableHLO are exact: what is kept differs at -0, NaN, or where a conversion saturates. `tests/stablehlo.rs` runs it.
// RUN: pir-opt --pass=canonicalize %s | FileCheck %s

module @folds {
  func.func public @main(%x: tensor<2x3xf64>, %i: tensor<2x3xi32>, %p: tensor<2x3xi1>) -> (tensor<2x3xf64>, tensor<2x3xf64>, tensor<2x3xf64>, tensor<2x3xi32>, tensor<2x3xi32>, tensor<2x3xf64>, tensor<3x2xf64>, tensor<1x2xf64>, tensor<2x3xi1>, tensor<2x3xf32>, tensor<4xi32>, tensor<2x3xf64>, tensor<i32>) {
    %zero = stablehlo.constant dense<0.0> : tensor<f64>
    %zeros = stablehlo.broadcast_in_dim %zero, dims = [] : (tensor<f64>) -> tensor<2x3xf64>
    %minus = stablehlo.constant dense<-0.0> : tensor<2x3xf64>
    %one = stablehlo.constant dense<1.0> : tensor<2x3xf64>
    %a = stablehlo.add %x, %zeros : tensor<2x3xf64>
    %b = stablehlo.add %x, %minus : tensor<2x3xf64>
    %c = stablehlo.multiply %x, %one : tensor<2x3xf64>
    %n = stablehlo.constant dense<0> : tensor<2x3xi32>
    %d = stablehlo.add %i, %n : tensor<2x3xi32>
    %e = stablehlo.multiply %i, %n : tensor<2x3xi32>
    %true = stablehlo.constant dense<true> : tensor<i1>
    %f = stablehlo.select %true, %x, %zeros : tensor<i1>, tensor<2x3xf64>
    %t = stablehlo.transpose %x, dims = [1, 0] : (tensor<2x3xf64>) -> tensor<3x2xf64>
    %tt = stablehlo.transpose %t, dims = [1, 0] : (tensor<3x2xf64>) -> tensor<2x3xf64>
    %r = stablehlo.reshape %tt : (tensor<2x3xf64>) -> tensor<6xf64>
    %g = stablehlo.reshape %r : (tensor<6xf64>) -> tensor<3x2xf64>
    %k = stablehlo.constant dense<9> : tensor<i32>
    %h = stablehlo.dynamic_slice %x, %k, %k, sizes = [1, 2] : (tensor<2x3xf64>, tensor<i32>, tensor<i32>) -> tensor<1x2xf64>
    %j = stablehlo.compare EQ, %i, %i, SIGNED : (tensor<2x3xi32>, tensor<2x3xi32>) -> tensor<2x3xi1>
    %l = stablehlo.convert %n : (tensor<2x3xi32>) -> tensor<2x3xf32>
    %q = stablehlo.constant dense<7> : tensor<2xi32>
    %m = stablehlo.concatenate %q, %q, dim = 0 : (tensor<2xi32>, tensor<2xi32>) -> tensor<4xi32>
    %nan = stablehlo.compare EQ, %x, %x, FLOAT : (tensor<2x3xf64>, tensor<2x3xf64>) -> tensor<2x3xi1>
    %o = stablehlo.select %nan, %x, %one : tensor<2x3xi1>, tensor<2x3xf64>
    %big = stablehlo.constant dense<3.0e9> : tensor<f64>
    %s = stablehlo.convert %big : (tensor<f64>) -> tensor<i32>
    return %a, %b, %c, %d, %e, %f, %g, %h, %j, %l, %m, %o, %s : tensor<2x3xf64>, tensor<2x3xf64>, tensor<2x3xf64>, tensor<2x3xi32>, tensor<2x3xi32>, tensor<2x3xf64>, tensor<3x2xf64>, tensor<1x2xf64>, tensor<2x3xi1>, tensor<2x3xf32>, tensor<4xi32>, tensor<2x3xf64>, tensor<i32>
  }
}

// CHECK: %a = stablehlo.add (%x, %zeros)
// CHECK-NOT: stablehlo.multiply
// CHECK: %g = stablehlo.reshape (%x) : tensor<3x2xf64>
// CHECK: %h = stablehlo.slice (%x) {start_indices = array<i64: 1, 1>, limit_indices = array<i64: 2, 3>
// CHECK: %j = stablehlo.constant {value = dense<true> : tensor<2x3xi1>}
// CHECK: %l = stablehlo.constant {value = dense<0.000000e+00> : tensor<2x3xf32>}
// CHECK: %m = stablehlo.constant {value = dense<7> : tensor<4xi32>}
// CHECK: stablehlo.compare (%x, %x)
// CHECK: %s = stablehlo.convert (%big)
// CHECK: func.return (%a, %x, %x, %i, %e, %x, %g, %h, %j, %l, %m, %o, %s)
