module @jit_loss attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<8xf64>, %arg1: tensor<3xf64>) -> (tensor<f64> {jax.result_info = "result"}) {
    %0 = call @convolve(%arg0, %arg1) : (tensor<8xf64>, tensor<3xf64>) -> tensor<10xf64>
    %1 = stablehlo.iota dim = 0 : tensor<10xf64>
    %cst = stablehlo.constant dense<1.000000e+00> : tensor<f64>
    %2 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f64>) -> tensor<10xf64>
    %3 = stablehlo.add %2, %1 : tensor<10xf64>
    %4 = stablehlo.cosine %3 : tensor<10xf64>
    %5 = stablehlo.multiply %4, %0 : tensor<10xf64>
    %cst_0 = stablehlo.constant dense<0.000000e+00> : tensor<f64>
    %6 = stablehlo.reduce(%5 init: %cst_0) applies stablehlo.add across dimensions = [0] : (tensor<10xf64>, tensor<f64>) -> tensor<f64>
    %cst_1 = stablehlo.constant dense<0.000000e+00> : tensor<f64>
    %7 = stablehlo.add %cst_1, %6 : tensor<f64>
    return %7 : tensor<f64>
  }
  func.func private @convolve(%arg0: tensor<8xf64>, %arg1: tensor<3xf64>) -> tensor<10xf64> {
    %0 = call @_conv(%arg0, %arg1) : (tensor<8xf64>, tensor<3xf64>) -> tensor<10xf64>
    return %0 : tensor<10xf64>
  }
  func.func private @_conv(%arg0: tensor<8xf64>, %arg1: tensor<3xf64>) -> tensor<10xf64> {
    %0 = call @_flip(%arg1) : (tensor<3xf64>) -> tensor<3xf64>
    %1 = stablehlo.broadcast_in_dim %arg0, dims = [2] : (tensor<8xf64>) -> tensor<1x1x8xf64>
    %2 = stablehlo.broadcast_in_dim %0, dims = [2] : (tensor<3xf64>) -> tensor<1x1x3xf64>
    %3 = stablehlo.convolution(%1, %2) dim_numbers = [b, f, 0]x[o, i, 0]->[b, f, 0], window = {stride = [1], pad = [[2, 2]], lhs_dilate = [1], rhs_dilate = [1], reverse = [false]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]} : (tensor<1x1x8xf64>, tensor<1x1x3xf64>) -> tensor<1x1x10xf64>
    %4 = stablehlo.reshape %3 : (tensor<1x1x10xf64>) -> tensor<10xf64>
    return %4 : tensor<10xf64>
  }
  func.func private @_flip(%arg0: tensor<3xf64>) -> tensor<3xf64> {
    %0 = stablehlo.reverse %arg0, dims = [0] : tensor<3xf64>
    return %0 : tensor<3xf64>
  }
}
