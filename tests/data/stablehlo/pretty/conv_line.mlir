module @jit_loss attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<2x4x7xf64>, %arg1: tensor<6x2x2xf64>) -> (tensor<f64> {jax.result_info = "result"}) {
    %0 = stablehlo.convolution(%arg0, %arg1) dim_numbers = [b, f, 0]x[o, i, 0]->[b, f, 0], window = {stride = [2], pad = [[1, 2]], lhs_dilate = [2], rhs_dilate = [3], reverse = [false]} {batch_group_count = 1 : i64, feature_group_count = 2 : i64, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]} : (tensor<2x4x7xf64>, tensor<6x2x2xf64>) -> tensor<2x6x7xf64>
    %1 = stablehlo.iota dim = 0 : tensor<84xf64>
    %cst = stablehlo.constant dense<1.000000e+00> : tensor<f64>
    %2 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f64>) -> tensor<84xf64>
    %3 = stablehlo.add %2, %1 : tensor<84xf64>
    %4 = stablehlo.cosine %3 : tensor<84xf64>
    %5 = stablehlo.reshape %4 : (tensor<84xf64>) -> tensor<2x6x7xf64>
    %6 = stablehlo.multiply %5, %0 : tensor<2x6x7xf64>
    %cst_0 = stablehlo.constant dense<0.000000e+00> : tensor<f64>
    %7 = stablehlo.reduce(%6 init: %cst_0) applies stablehlo.add across dimensions = [0, 1, 2] : (tensor<2x6x7xf64>, tensor<f64>) -> tensor<f64>
    %cst_1 = stablehlo.constant dense<0.000000e+00> : tensor<f64>
    %8 = stablehlo.add %cst_1, %7 : tensor<f64>
    return %8 : tensor<f64>
  }
}
