module @jit_loss attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<3xf64>) -> (tensor<f64> {jax.result_info = "result"}) {
    %c = stablehlo.constant dense<0> : tensor<i64>
    %0:3 = stablehlo.while(%iterArg = %arg0, %iterArg_2 = %c, %iterArg_3 = %arg0) : tensor<3xf64>, tensor<i64>, tensor<3xf64>
    cond {
      %c_4 = stablehlo.constant dense<7> : tensor<i64>
      %8 = stablehlo.compare LT, %iterArg_2, %c_4, SIGNED : (tensor<i64>, tensor<i64>) -> tensor<i1>
      stablehlo.return %8 : tensor<i1>
    } do {
      %c_4 = stablehlo.constant dense<1> : tensor<i64>
      %8 = stablehlo.add %iterArg_2, %c_4 : tensor<i64>
      %cst_5 = stablehlo.constant dense<0.000000e+00> : tensor<f64>
      %9 = stablehlo.reduce(%iterArg_3 init: %cst_5) applies stablehlo.add across dimensions = [0] : (tensor<3xf64>, tensor<f64>) -> tensor<f64>
      %cst_6 = stablehlo.constant dense<0.000000e+00> : tensor<f64>
      %10 = stablehlo.compare GT, %9, %cst_6, FLOAT : (tensor<f64>, tensor<f64>) -> tensor<i1>
      %11 = stablehlo.convert %10 : (tensor<i1>) -> tensor<i32>
      %12 = "stablehlo.case"(%11) ({
        %13 = stablehlo.tanh %iterArg_3 : tensor<3xf64>
        %14 = stablehlo.multiply %iterArg, %iterArg : tensor<3xf64>
        %15 = stablehlo.add %13, %14 : tensor<3xf64>
        stablehlo.return %15 : tensor<3xf64>
      }, {
        %cst_7 = stablehlo.constant dense<0.69999999999999996> : tensor<f64>
        %13 = stablehlo.broadcast_in_dim %cst_7, dims = [] : (tensor<f64>) -> tensor<3xf64>
        %14 = stablehlo.multiply %iterArg_3, %13 : tensor<3xf64>
        %15 = stablehlo.subtract %14, %iterArg : tensor<3xf64>
        stablehlo.return %15 : tensor<3xf64>
      }) : (tensor<i32>) -> tensor<3xf64>
      stablehlo.return %iterArg, %8, %12 : tensor<3xf64>, tensor<i64>, tensor<3xf64>
    }
    %1 = stablehlo.iota dim = 0 : tensor<3xf64>
    %cst = stablehlo.constant dense<1.000000e+00> : tensor<f64>
    %2 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f64>) -> tensor<3xf64>
    %3 = stablehlo.add %2, %1 : tensor<3xf64>
    %4 = stablehlo.cosine %3 : tensor<3xf64>
    %5 = stablehlo.multiply %4, %0#2 : tensor<3xf64>
    %cst_0 = stablehlo.constant dense<0.000000e+00> : tensor<f64>
    %6 = stablehlo.reduce(%5 init: %cst_0) applies stablehlo.add across dimensions = [0] : (tensor<3xf64>, tensor<f64>) -> tensor<f64>
    %cst_1 = stablehlo.constant dense<0.000000e+00> : tensor<f64>
    %7 = stablehlo.add %cst_1, %6 : tensor<f64>
    return %7 : tensor<f64>
  }
}
