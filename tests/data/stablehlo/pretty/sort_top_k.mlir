module @jit_loss attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<2x8xf64>) -> (tensor<f64> {jax.result_info = "result"}) {
    %values, %indices = chlo.top_k(%arg0, k = 3) : tensor<2x8xf64> -> (tensor<2x3xf64>, tensor<2x3xi32>)
    %0 = stablehlo.iota dim = 0 : tensor<6xf64>
    %cst = stablehlo.constant dense<1.000000e+00> : tensor<f64>
    %1 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f64>) -> tensor<6xf64>
    %2 = stablehlo.add %1, %0 : tensor<6xf64>
    %3 = stablehlo.cosine %2 : tensor<6xf64>
    %4 = stablehlo.reshape %3 : (tensor<6xf64>) -> tensor<2x3xf64>
    %5 = stablehlo.multiply %4, %values : tensor<2x3xf64>
    %cst_0 = stablehlo.constant dense<0.000000e+00> : tensor<f64>
    %6 = stablehlo.reduce(%5 init: %cst_0) applies stablehlo.add across dimensions = [0, 1] : (tensor<2x3xf64>, tensor<f64>) -> tensor<f64>
    %cst_1 = stablehlo.constant dense<0.000000e+00> : tensor<f64>
    %7 = stablehlo.add %cst_1, %6 : tensor<f64>
    return %7 : tensor<f64>
  }
}
