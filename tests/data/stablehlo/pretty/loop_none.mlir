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
      %c_6 = stablehlo.constant dense<0> : tensor<i64>
      %9:4 = stablehlo.while(%iterArg_7 = %iterArg, %iterArg_8 = %c_6, %iterArg_9 = %iterArg_2, %iterArg_10 = %iterArg_4) : tensor<2xf64>, tensor<i64>, tensor<i64>, tensor<2xf64>
      cond {
        %10 = stablehlo.compare LT, %iterArg_8, %iterArg_9, SIGNED : (tensor<i64>, tensor<i64>) -> tensor<i1>
        stablehlo.return %10 : tensor<i1>
      } do {
        %c_11 = stablehlo.constant dense<1> : tensor<i64>
        %10 = stablehlo.add %iterArg_8, %c_11 : tensor<i64>
        %11 = stablehlo.sine %iterArg_10 : tensor<2xf64>
        %12 = stablehlo.multiply %11, %iterArg_7 : tensor<2xf64>
        %13 = stablehlo.convert %iterArg_8 : (tensor<i64>) -> tensor<f64>
        %cst_12 = stablehlo.constant dense<1.000000e-01> : tensor<f64>
        %14 = stablehlo.multiply %13, %cst_12 : tensor<f64>
        %15 = stablehlo.convert %14 : tensor<f64>
        %16 = stablehlo.broadcast_in_dim %15, dims = [] : (tensor<f64>) -> tensor<2xf64>
        %17 = stablehlo.add %12, %16 : tensor<2xf64>
        stablehlo.return %iterArg_7, %10, %iterArg_9, %17 : tensor<2xf64>, tensor<i64>, tensor<i64>, tensor<2xf64>
      }
      stablehlo.return %iterArg, %8, %iterArg_3, %9#3 : tensor<2xf64>, tensor<i64>, tensor<i64>, tensor<2xf64>
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
