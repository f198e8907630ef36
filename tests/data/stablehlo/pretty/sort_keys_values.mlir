module @jit_loss attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<8xf64>, %arg1: tensor<8xf64>) -> (tensor<f64> {jax.result_info = "result"}) {
    %0:2 = "stablehlo.sort"(%arg0, %arg1) <{dimension = 0 : i64, is_stable = true}> ({
    ^bb0(%arg2: tensor<f64>, %arg3: tensor<f64>, %arg4: tensor<f64>, %arg5: tensor<f64>):
      %cst_4 = stablehlo.constant dense<0.000000e+00> : tensor<f64>
      %15 = stablehlo.compare EQ, %arg2, %cst_4, FLOAT : (tensor<f64>, tensor<f64>) -> tensor<i1>
      %cst_5 = stablehlo.constant dense<0.000000e+00> : tensor<f64>
      %16 = stablehlo.select %15, %cst_5, %arg2 : tensor<i1>, tensor<f64>
      %17 = stablehlo.compare NE, %arg2, %arg2, FLOAT : (tensor<f64>, tensor<f64>) -> tensor<i1>
      %cst_6 = stablehlo.constant dense<0x7FF8000000000000> : tensor<f64>
      %18 = stablehlo.select %17, %cst_6, %16 : tensor<i1>, tensor<f64>
      %cst_7 = stablehlo.constant dense<0.000000e+00> : tensor<f64>
      %19 = stablehlo.compare EQ, %arg3, %cst_7, FLOAT : (tensor<f64>, tensor<f64>) -> tensor<i1>
      %cst_8 = stablehlo.constant dense<0.000000e+00> : tensor<f64>
      %20 = stablehlo.select %19, %cst_8, %arg3 : tensor<i1>, tensor<f64>
      %21 = stablehlo.compare NE, %arg3, %arg3, FLOAT : (tensor<f64>, tensor<f64>) -> tensor<i1>
      %cst_9 = stablehlo.constant dense<0x7FF8000000000000> : tensor<f64>
      %22 = stablehlo.select %21, %cst_9, %20 : tensor<i1>, tensor<f64>
      %23 = stablehlo.compare LT, %18, %22, TOTALORDER : (tensor<f64>, tensor<f64>) -> tensor<i1>
      stablehlo.return %23 : tensor<i1>
    }) : (tensor<8xf64>, tensor<8xf64>) -> (tensor<8xf64>, tensor<8xf64>)
    %1 = stablehlo.iota dim = 0 : tensor<8xf64>
    %cst = stablehlo.constant dense<1.000000e+00> : tensor<f64>
    %2 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f64>) -> tensor<8xf64>
    %3 = stablehlo.add %2, %1 : tensor<8xf64>
    %4 = stablehlo.cosine %3 : tensor<8xf64>
    %5 = stablehlo.multiply %4, %0#0 : tensor<8xf64>
    %cst_0 = stablehlo.constant dense<0.000000e+00> : tensor<f64>
    %6 = stablehlo.reduce(%5 init: %cst_0) applies stablehlo.add across dimensions = [0] : (tensor<8xf64>, tensor<f64>) -> tensor<f64>
    %cst_1 = stablehlo.constant dense<0.000000e+00> : tensor<f64>
    %7 = stablehlo.add %cst_1, %6 : tensor<f64>
    %8 = stablehlo.iota dim = 0 : tensor<8xf64>
    %cst_2 = stablehlo.constant dense<2.000000e+00> : tensor<f64>
    %9 = stablehlo.broadcast_in_dim %cst_2, dims = [] : (tensor<f64>) -> tensor<8xf64>
    %10 = stablehlo.add %9, %8 : tensor<8xf64>
    %11 = stablehlo.cosine %10 : tensor<8xf64>
    %12 = stablehlo.multiply %11, %0#1 : tensor<8xf64>
    %cst_3 = stablehlo.constant dense<0.000000e+00> : tensor<f64>
    %13 = stablehlo.reduce(%12 init: %cst_3) applies stablehlo.add across dimensions = [0] : (tensor<8xf64>, tensor<f64>) -> tensor<f64>
    %14 = stablehlo.add %7, %13 : tensor<f64>
    return %14 : tensor<f64>
  }
}
