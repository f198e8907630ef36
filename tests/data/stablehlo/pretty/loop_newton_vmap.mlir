module @jit_loss attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<3xf64>) -> (tensor<f64> {jax.result_info = "result"}) {
    %cst = stablehlo.constant dense<1.000000e+00> : tensor<f64>
    %0 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f64>) -> tensor<3xf64>
    %1 = stablehlo.add %arg0, %0 : tensor<3xf64>
    %2:3 = stablehlo.while(%iterArg = %arg0, %iterArg_3 = %arg0, %iterArg_4 = %1) : tensor<3xf64>, tensor<3xf64>, tensor<3xf64>
    cond {
      %10 = stablehlo.multiply %iterArg_4, %iterArg_4 : tensor<3xf64>
      %11 = stablehlo.subtract %10, %iterArg : tensor<3xf64>
      %12 = stablehlo.abs %11 : tensor<3xf64>
      %cst_5 = stablehlo.constant dense<9.9999999999999998E-13> : tensor<f64>
      %13 = stablehlo.broadcast_in_dim %cst_5, dims = [] : (tensor<f64>) -> tensor<3xf64>
      %14 = stablehlo.compare GT, %12, %13, FLOAT : (tensor<3xf64>, tensor<3xf64>) -> tensor<3xi1>
      %c = stablehlo.constant dense<false> : tensor<i1>
      %15 = stablehlo.reduce(%14 init: %c) applies stablehlo.or across dimensions = [0] : (tensor<3xi1>, tensor<i1>) -> tensor<i1>
      stablehlo.return %15 : tensor<i1>
    } do {
      %10 = stablehlo.divide %iterArg_3, %iterArg_4 : tensor<3xf64>
      %11 = stablehlo.add %iterArg_4, %10 : tensor<3xf64>
      %cst_5 = stablehlo.constant dense<5.000000e-01> : tensor<f64>
      %12 = stablehlo.broadcast_in_dim %cst_5, dims = [] : (tensor<f64>) -> tensor<3xf64>
      %13 = stablehlo.multiply %12, %11 : tensor<3xf64>
      %14 = stablehlo.multiply %iterArg_4, %iterArg_4 : tensor<3xf64>
      %15 = stablehlo.subtract %14, %iterArg : tensor<3xf64>
      %16 = stablehlo.abs %15 : tensor<3xf64>
      %cst_6 = stablehlo.constant dense<9.9999999999999998E-13> : tensor<f64>
      %17 = stablehlo.broadcast_in_dim %cst_6, dims = [] : (tensor<f64>) -> tensor<3xf64>
      %18 = stablehlo.compare GT, %16, %17, FLOAT : (tensor<3xf64>, tensor<3xf64>) -> tensor<3xi1>
      %19 = stablehlo.broadcast_in_dim %18, dims = [0] : (tensor<3xi1>) -> tensor<3xi1>
      %20 = stablehlo.select %19, %13, %iterArg_4 : tensor<3xi1>, tensor<3xf64>
      stablehlo.return %iterArg, %iterArg_3, %20 : tensor<3xf64>, tensor<3xf64>, tensor<3xf64>
    }
    %3 = stablehlo.iota dim = 0 : tensor<3xf64>
    %cst_0 = stablehlo.constant dense<1.000000e+00> : tensor<f64>
    %4 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f64>) -> tensor<3xf64>
    %5 = stablehlo.add %4, %3 : tensor<3xf64>
    %6 = stablehlo.cosine %5 : tensor<3xf64>
    %7 = stablehlo.multiply %6, %2#2 : tensor<3xf64>
    %cst_1 = stablehlo.constant dense<0.000000e+00> : tensor<f64>
    %8 = stablehlo.reduce(%7 init: %cst_1) applies stablehlo.add across dimensions = [0] : (tensor<3xf64>, tensor<f64>) -> tensor<f64>
    %cst_2 = stablehlo.constant dense<0.000000e+00> : tensor<f64>
    %9 = stablehlo.add %cst_2, %8 : tensor<f64>
    return %9 : tensor<f64>
  }
}
