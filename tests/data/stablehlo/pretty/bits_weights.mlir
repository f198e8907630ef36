module @jit_loss attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<6xf64>, %arg1: tensor<6xi64>, %arg2: tensor<6xi64>) -> (tensor<f64> {jax.result_info = "result"}) {
    %0 = stablehlo.popcnt %arg1 : tensor<6xi64>
    %1 = stablehlo.convert %0 : (tensor<6xi64>) -> tensor<6xf64>
    %2 = stablehlo.multiply %arg0, %1 : tensor<6xf64>
    %3 = stablehlo.count_leading_zeros %arg1 : tensor<6xi64>
    %4 = stablehlo.convert %3 : (tensor<6xi64>) -> tensor<6xf64>
    %5 = stablehlo.multiply %arg0, %4 : tensor<6xf64>
    %6 = stablehlo.shift_right_arithmetic %arg1, %arg2 : tensor<6xi64>
    %7 = stablehlo.convert %6 : (tensor<6xi64>) -> tensor<6xf64>
    %8 = stablehlo.multiply %arg0, %7 : tensor<6xf64>
    %9 = stablehlo.convert %arg1 : (tensor<6xi64>) -> tensor<6xf64>
    %10 = stablehlo.convert %arg2 : (tensor<6xi64>) -> tensor<6xf64>
    %11 = chlo.next_after %9, %10 : tensor<6xf64>, tensor<6xf64> -> tensor<6xf64>
    %12 = stablehlo.convert %arg1 : (tensor<6xi64>) -> tensor<6xf64>
    %13 = stablehlo.subtract %11, %12 : tensor<6xf64>
    %14 = stablehlo.multiply %arg0, %13 : tensor<6xf64>
    %cst = stablehlo.constant dense<0x4310000000000000> : tensor<f64>
    %15 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f64>) -> tensor<6xf64>
    %16 = stablehlo.multiply %14, %15 : tensor<6xf64>
    %17 = stablehlo.iota dim = 0 : tensor<6xf64>
    %cst_0 = stablehlo.constant dense<1.000000e+00> : tensor<f64>
    %18 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f64>) -> tensor<6xf64>
    %19 = stablehlo.add %18, %17 : tensor<6xf64>
    %20 = stablehlo.cosine %19 : tensor<6xf64>
    %21 = stablehlo.multiply %20, %2 : tensor<6xf64>
    %cst_1 = stablehlo.constant dense<0.000000e+00> : tensor<f64>
    %22 = stablehlo.reduce(%21 init: %cst_1) applies stablehlo.add across dimensions = [0] : (tensor<6xf64>, tensor<f64>) -> tensor<f64>
    %cst_2 = stablehlo.constant dense<0.000000e+00> : tensor<f64>
    %23 = stablehlo.add %cst_2, %22 : tensor<f64>
    %24 = stablehlo.iota dim = 0 : tensor<6xf64>
    %cst_3 = stablehlo.constant dense<2.000000e+00> : tensor<f64>
    %25 = stablehlo.broadcast_in_dim %cst_3, dims = [] : (tensor<f64>) -> tensor<6xf64>
    %26 = stablehlo.add %25, %24 : tensor<6xf64>
    %27 = stablehlo.cosine %26 : tensor<6xf64>
    %28 = stablehlo.multiply %27, %5 : tensor<6xf64>
    %cst_4 = stablehlo.constant dense<0.000000e+00> : tensor<f64>
    %29 = stablehlo.reduce(%28 init: %cst_4) applies stablehlo.add across dimensions = [0] : (tensor<6xf64>, tensor<f64>) -> tensor<f64>
    %30 = stablehlo.add %23, %29 : tensor<f64>
    %31 = stablehlo.iota dim = 0 : tensor<6xf64>
    %cst_5 = stablehlo.constant dense<3.000000e+00> : tensor<f64>
    %32 = stablehlo.broadcast_in_dim %cst_5, dims = [] : (tensor<f64>) -> tensor<6xf64>
    %33 = stablehlo.add %32, %31 : tensor<6xf64>
    %34 = stablehlo.cosine %33 : tensor<6xf64>
    %35 = stablehlo.multiply %34, %8 : tensor<6xf64>
    %cst_6 = stablehlo.constant dense<0.000000e+00> : tensor<f64>
    %36 = stablehlo.reduce(%35 init: %cst_6) applies stablehlo.add across dimensions = [0] : (tensor<6xf64>, tensor<f64>) -> tensor<f64>
    %37 = stablehlo.add %30, %36 : tensor<f64>
    %38 = stablehlo.iota dim = 0 : tensor<6xf64>
    %cst_7 = stablehlo.constant dense<4.000000e+00> : tensor<f64>
    %39 = stablehlo.broadcast_in_dim %cst_7, dims = [] : (tensor<f64>) -> tensor<6xf64>
    %40 = stablehlo.add %39, %38 : tensor<6xf64>
    %41 = stablehlo.cosine %40 : tensor<6xf64>
    %42 = stablehlo.multiply %41, %16 : tensor<6xf64>
    %cst_8 = stablehlo.constant dense<0.000000e+00> : tensor<f64>
    %43 = stablehlo.reduce(%42 init: %cst_8) applies stablehlo.add across dimensions = [0] : (tensor<6xf64>, tensor<f64>) -> tensor<f64>
    %44 = stablehlo.add %37, %43 : tensor<f64>
    return %44 : tensor<f64>
  }
}
