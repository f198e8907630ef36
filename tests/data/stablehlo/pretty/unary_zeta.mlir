module @jit_loss attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<5xf64>) -> (tensor<f64> {jax.result_info = "result"}) {
    %cst = stablehlo.constant dense<[1.500000e+00, 2.000000e+00, 2.500000e+00, 3.000000e+00, 7.250000e+00]> : tensor<5xf64>
    %cst_0 = stablehlo.constant dense<[0.69999999999999996, 1.000000e+00, 4.500000e+00, 2.000000e-02, 3.000000e+01]> : tensor<5xf64>
    %0 = chlo.zeta %cst, %cst_0 : tensor<5xf64>, tensor<5xf64> -> tensor<5xf64>
    %1 = stablehlo.multiply %arg0, %0 : tensor<5xf64>
    %2 = stablehlo.iota dim = 0 : tensor<5xf64>
    %cst_1 = stablehlo.constant dense<1.000000e+00> : tensor<f64>
    %3 = stablehlo.broadcast_in_dim %cst_1, dims = [] : (tensor<f64>) -> tensor<5xf64>
    %4 = stablehlo.add %3, %2 : tensor<5xf64>
    %5 = stablehlo.cosine %4 : tensor<5xf64>
    %6 = stablehlo.multiply %5, %1 : tensor<5xf64>
    %cst_2 = stablehlo.constant dense<0.000000e+00> : tensor<f64>
    %7 = stablehlo.reduce(%6 init: %cst_2) applies stablehlo.add across dimensions = [0] : (tensor<5xf64>, tensor<f64>) -> tensor<f64>
    %cst_3 = stablehlo.constant dense<0.000000e+00> : tensor<f64>
    %8 = stablehlo.add %cst_3, %7 : tensor<f64>
    return %8 : tensor<f64>
  }
}
