module @jit_loss attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<2xf64>, %arg1: tensor<i64>) -> (tensor<f64> {jax.result_info = "result"}) {
    %c = stablehlo.constant dense<0> : tensor<i64>
    %0:4 = stablehlo.while(%iterArg = %arg0, %iterArg_2 = %c, %iterArg_3 = %arg1, %iterArg_4 = %arg0) : tensor<2xf64>, tensor<i64>, tensor<i64>, tensor<2xf64>
    cond {
      %8 = stablehlo.compare LT, %iterArg_2, %iterArg_3, SIGNED : (tensor<i64>, tensor<i64>) -> tensor<i1>
      stablehlo.return %8 : tensor<i1>
    } do {
      %c_5 = stablehlo.constant dense<1> : tensor<i64>
      %8 = stablehlo.add %iterArg_2, %c_5 : tensor<i64>
      %9 = stablehlo.sine %iterArg_4 : tensor<2xf64>
      %cst_6 = stablehlo.constant dense<1.000000e-01> : tensor<f64>
      %10 = stablehlo.broadcast_in_dim %cst_6, dims = [] : (tensor<f64>) -> tensor<2xf64>
      %11 = stablehlo.multiply %10, %iterArg : tensor<2xf64>
      %12 = stablehlo.convert %iterArg_2 : (tensor<i64>) -> tensor<f64>
      %13 = stablehlo.broadcast_in_dim %12, dims = [] : (tensor<f64>) -> tensor<2xf64>
      %14 = stablehlo.multiply %11, %13 : tensor<2xf64>
      %15 = stablehlo.add %9, %14 : tensor<2xf64>
      stablehlo.return %iterArg, %8, %iterArg_3, %15 : tensor<2xf64>, tensor<i64>, tensor<i64>, tensor<2xf64>
    }
    %1 = stablehlo.iota dim = 0 : tensor<2xf64>
    %cst = stablehlo.constant dense<1.000000e+00> : tensor<f64>
    %2 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f64>) -> tensor<2xf64>
    %3 = stablehlo.add %2, %1 : tensor<2xf64>
    %4 = stablehlo.cosine %3 : tensor<2xf64>
    %5 = stablehlo.multiply %4, %0#3 : tensor<2xf64>
    %cst_0 = stablehlo.constant dense<0.000000e+00> : tensor<f64>
    %6 = stablehlo.reduce(%5 init: %cst_0) applies stablehlo.add across dimensions = [0] : (tensor<2xf64>, tensor<f64>) -> tensor<f64>
    %cst_1 = stablehlo.constant dense<0.000000e+00> : tensor<f64>
    %7 = stablehlo.add %cst_1, %6 : tensor<f64>
    return %7 : tensor<f64>
  }
}
