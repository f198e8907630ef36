module @jit_loss attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<i64>, %arg1: tensor<3xf64>) -> (tensor<f64> {jax.result_info = "result"}) {
    %0 = stablehlo.convert %arg0 : (tensor<i64>) -> tensor<i32>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %c_0 = stablehlo.constant dense<2> : tensor<i32>
    %1 = stablehlo.clamp %c, %0, %c_0 : tensor<i32>
    %2 = "stablehlo.case"(%1) ({
      %10 = stablehlo.sine %arg1 : tensor<3xf64>
      stablehlo.return %10 : tensor<3xf64>
    }, {
      %10 = stablehlo.cosine %arg1 : tensor<3xf64>
      stablehlo.return %10 : tensor<3xf64>
    }, {
      %10 = stablehlo.tanh %arg1 : tensor<3xf64>
      stablehlo.return %10 : tensor<3xf64>
    }) : (tensor<i32>) -> tensor<3xf64>
    %3 = stablehlo.iota dim = 0 : tensor<3xf64>
    %cst = stablehlo.constant dense<1.000000e+00> : tensor<f64>
    %4 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f64>) -> tensor<3xf64>
    %5 = stablehlo.add %4, %3 : tensor<3xf64>
    %6 = stablehlo.cosine %5 : tensor<3xf64>
    %7 = stablehlo.multiply %6, %2 : tensor<3xf64>
    %cst_1 = stablehlo.constant dense<0.000000e+00> : tensor<f64>
    %8 = stablehlo.reduce(%7 init: %cst_1) applies stablehlo.add across dimensions = [0] : (tensor<3xf64>, tensor<f64>) -> tensor<f64>
    %cst_2 = stablehlo.constant dense<0.000000e+00> : tensor<f64>
    %9 = stablehlo.add %cst_2, %8 : tensor<f64>
    return %9 : tensor<f64>
  }
}
