module @jit_loss attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<2xf64>, %arg1: tensor<f64>) -> (tensor<f64> {jax.result_info = "result"}) {
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f64>
    %0:3 = stablehlo.while(%iterArg = %arg1, %iterArg_3 = %cst, %iterArg_4 = %arg0) : tensor<f64>, tensor<f64>, tensor<2xf64>
    cond {
      %cst_5 = stablehlo.constant dense<1.000000e+00> : tensor<f64>
      %8 = stablehlo.compare LT, %iterArg_3, %cst_5, FLOAT : (tensor<f64>, tensor<f64>) -> tensor<i1>
      stablehlo.return %8 : tensor<i1>
    } do {
      %8 = stablehlo.slice %iterArg_4 [1:2] : (tensor<2xf64>) -> tensor<1xf64>
      %9 = stablehlo.reshape %8 : (tensor<1xf64>) -> tensor<f64>
      %10 = stablehlo.slice %iterArg_4 [0:1] : (tensor<2xf64>) -> tensor<1xf64>
      %11 = stablehlo.reshape %10 : (tensor<1xf64>) -> tensor<f64>
      %12 = stablehlo.multiply %11, %11 : tensor<f64>
      %cst_5 = stablehlo.constant dense<1.000000e+00> : tensor<f64>
      %13 = stablehlo.subtract %cst_5, %12 : tensor<f64>
      %14 = stablehlo.multiply %iterArg, %13 : tensor<f64>
      %15 = stablehlo.slice %iterArg_4 [1:2] : (tensor<2xf64>) -> tensor<1xf64>
      %16 = stablehlo.reshape %15 : (tensor<1xf64>) -> tensor<f64>
      %17 = stablehlo.multiply %14, %16 : tensor<f64>
      %18 = stablehlo.slice %iterArg_4 [0:1] : (tensor<2xf64>) -> tensor<1xf64>
      %19 = stablehlo.reshape %18 : (tensor<1xf64>) -> tensor<f64>
      %20 = stablehlo.subtract %17, %19 : tensor<f64>
      %21 = stablehlo.broadcast_in_dim %9, dims = [] : (tensor<f64>) -> tensor<1xf64>
      %22 = stablehlo.broadcast_in_dim %20, dims = [] : (tensor<f64>) -> tensor<1xf64>
      %23 = stablehlo.concatenate %21, %22, dim = 0 : (tensor<1xf64>, tensor<1xf64>) -> tensor<2xf64>
      %cst_6 = stablehlo.constant dense<5.000000e-02> : tensor<f64>
      %24 = stablehlo.broadcast_in_dim %cst_6, dims = [] : (tensor<f64>) -> tensor<2xf64>
      %25 = stablehlo.multiply %24, %23 : tensor<2xf64>
      %26 = stablehlo.add %iterArg_4, %25 : tensor<2xf64>
      %27 = stablehlo.slice %26 [1:2] : (tensor<2xf64>) -> tensor<1xf64>
      %28 = stablehlo.reshape %27 : (tensor<1xf64>) -> tensor<f64>
      %29 = stablehlo.slice %26 [0:1] : (tensor<2xf64>) -> tensor<1xf64>
      %30 = stablehlo.reshape %29 : (tensor<1xf64>) -> tensor<f64>
      %31 = stablehlo.multiply %30, %30 : tensor<f64>
      %cst_7 = stablehlo.constant dense<1.000000e+00> : tensor<f64>
      %32 = stablehlo.subtract %cst_7, %31 : tensor<f64>
      %33 = stablehlo.multiply %iterArg, %32 : tensor<f64>
      %34 = stablehlo.slice %26 [1:2] : (tensor<2xf64>) -> tensor<1xf64>
      %35 = stablehlo.reshape %34 : (tensor<1xf64>) -> tensor<f64>
      %36 = stablehlo.multiply %33, %35 : tensor<f64>
      %37 = stablehlo.slice %26 [0:1] : (tensor<2xf64>) -> tensor<1xf64>
      %38 = stablehlo.reshape %37 : (tensor<1xf64>) -> tensor<f64>
      %39 = stablehlo.subtract %36, %38 : tensor<f64>
      %40 = stablehlo.broadcast_in_dim %28, dims = [] : (tensor<f64>) -> tensor<1xf64>
      %41 = stablehlo.broadcast_in_dim %39, dims = [] : (tensor<f64>) -> tensor<1xf64>
      %42 = stablehlo.concatenate %40, %41, dim = 0 : (tensor<1xf64>, tensor<1xf64>) -> tensor<2xf64>
      %cst_8 = stablehlo.constant dense<1.000000e-01> : tensor<f64>
      %43 = stablehlo.add %iterArg_3, %cst_8 : tensor<f64>
      %44 = stablehlo.add %23, %42 : tensor<2xf64>
      %cst_9 = stablehlo.constant dense<1.000000e-01> : tensor<f64>
      %45 = stablehlo.broadcast_in_dim %cst_9, dims = [] : (tensor<f64>) -> tensor<2xf64>
      %46 = stablehlo.multiply %45, %44 : tensor<2xf64>
      %cst_10 = stablehlo.constant dense<2.000000e+00> : tensor<f64>
      %47 = stablehlo.broadcast_in_dim %cst_10, dims = [] : (tensor<f64>) -> tensor<2xf64>
      %48 = stablehlo.divide %46, %47 : tensor<2xf64>
      %49 = stablehlo.add %iterArg_4, %48 : tensor<2xf64>
      stablehlo.return %iterArg, %43, %49 : tensor<f64>, tensor<f64>, tensor<2xf64>
    }
    %1 = stablehlo.iota dim = 0 : tensor<2xf64>
    %cst_0 = stablehlo.constant dense<1.000000e+00> : tensor<f64>
    %2 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f64>) -> tensor<2xf64>
    %3 = stablehlo.add %2, %1 : tensor<2xf64>
    %4 = stablehlo.cosine %3 : tensor<2xf64>
    %5 = stablehlo.multiply %4, %0#2 : tensor<2xf64>
    %cst_1 = stablehlo.constant dense<0.000000e+00> : tensor<f64>
    %6 = stablehlo.reduce(%5 init: %cst_1) applies stablehlo.add across dimensions = [0] : (tensor<2xf64>, tensor<f64>) -> tensor<f64>
    %cst_2 = stablehlo.constant dense<0.000000e+00> : tensor<f64>
    %7 = stablehlo.add %cst_2, %6 : tensor<f64>
    return %7 : tensor<f64>
  }
}
