module @jit_loss attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<9xf64>) -> (tensor<f64> {jax.result_info = "result"}) {
    %0 = stablehlo.round_nearest_even %arg0 : tensor<9xf64>
    %1 = stablehlo.iota dim = 0 : tensor<9xf64>
    %cst = stablehlo.constant dense<1.000000e+00> : tensor<f64>
    %2 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f64>) -> tensor<9xf64>
    %3 = stablehlo.add %2, %1 : tensor<9xf64>
    %4 = stablehlo.cosine %3 : tensor<9xf64>
    %5 = stablehlo.multiply %4, %0 : tensor<9xf64>
    %cst_0 = stablehlo.constant dense<0.000000e+00> : tensor<f64>
    %6 = stablehlo.reduce(%5 init: %cst_0) applies stablehlo.add across dimensions = [0] : (tensor<9xf64>, tensor<f64>) -> tensor<f64>
    %cst_1 = stablehlo.constant dense<0.000000e+00> : tensor<f64>
    %7 = stablehlo.add %cst_1, %6 : tensor<f64>
    return %7 : tensor<f64>
  }
}
