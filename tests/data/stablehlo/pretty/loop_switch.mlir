module @jit_loss attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<f64>, %arg1: tensor<i64>) -> (tensor<f64> {jax.result_info = "result"}) {
    %c = stablehlo.constant dense<0> : tensor<i64>
    %0:4 = stablehlo.while(%iterArg = %arg0, %iterArg_2 = %c, %iterArg_3 = %arg1, %iterArg_4 = %arg0) : tensor<f64>, tensor<i64>, tensor<i64>, tensor<f64>
    cond {
      %9 = stablehlo.compare LT, %iterArg_2, %iterArg_3, SIGNED : (tensor<i64>, tensor<i64>) -> tensor<i1>
      stablehlo.return %9 : tensor<i1>
    } do {
      %c_5 = stablehlo.constant dense<1> : tensor<i64>
      %9 = stablehlo.add %iterArg_2, %c_5 : tensor<i64>
      %c_6 = stablehlo.constant dense<4> : tensor<i64>
      %10 = func.call @remainder(%iterArg_2, %c_6) : (tensor<i64>, tensor<i64>) -> tensor<i64>
      %11 = stablehlo.convert %10 : (tensor<i64>) -> tensor<i32>
      %c_7 = stablehlo.constant dense<0> : tensor<i32>
      %c_8 = stablehlo.constant dense<3> : tensor<i32>
      %12 = stablehlo.clamp %c_7, %11, %c_8 : tensor<i32>
      %13 = "stablehlo.case"(%12) ({
        %15 = stablehlo.sine %iterArg_4 : tensor<f64>
        stablehlo.return %15 : tensor<f64>
      }, {
        %15 = stablehlo.multiply %iterArg_4, %iterArg : tensor<f64>
        stablehlo.return %15 : tensor<f64>
      }, {
        %cst_10 = stablehlo.constant dense<3.000000e-01> : tensor<f64>
        %15 = stablehlo.subtract %iterArg_4, %cst_10 : tensor<f64>
        stablehlo.return %15 : tensor<f64>
      }, {
        %15 = stablehlo.exponential %iterArg_4 : tensor<f64>
        stablehlo.return %15 : tensor<f64>
      }) : (tensor<i32>) -> tensor<f64>
      %cst_9 = stablehlo.constant dense<5.000000e-01> : tensor<f64>
      %14 = stablehlo.multiply %13, %cst_9 : tensor<f64>
      stablehlo.return %iterArg, %9, %iterArg_3, %14 : tensor<f64>, tensor<i64>, tensor<i64>, tensor<f64>
    }
    %1 = stablehlo.iota dim = 0 : tensor<1xf64>
    %cst = stablehlo.constant dense<1.000000e+00> : tensor<f64>
    %2 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f64>) -> tensor<1xf64>
    %3 = stablehlo.add %2, %1 : tensor<1xf64>
    %4 = stablehlo.cosine %3 : tensor<1xf64>
    %5 = stablehlo.reshape %4 : (tensor<1xf64>) -> tensor<f64>
    %6 = stablehlo.multiply %5, %0#3 : tensor<f64>
    %cst_0 = stablehlo.constant dense<0.000000e+00> : tensor<f64>
    %7 = stablehlo.reduce(%6 init: %cst_0) applies stablehlo.add across dimensions = [] : (tensor<f64>, tensor<f64>) -> tensor<f64>
    %cst_1 = stablehlo.constant dense<0.000000e+00> : tensor<f64>
    %8 = stablehlo.add %cst_1, %7 : tensor<f64>
    return %8 : tensor<f64>
  }
  func.func private @remainder(%arg0: tensor<i64>, %arg1: tensor<i64>) -> tensor<i64> {
    %c = stablehlo.constant dense<0> : tensor<i64>
    %0 = stablehlo.compare EQ, %arg1, %c, SIGNED : (tensor<i64>, tensor<i64>) -> tensor<i1>
    %c_0 = stablehlo.constant dense<1> : tensor<i64>
    %1 = call @_where(%0, %c_0, %arg1) : (tensor<i1>, tensor<i64>, tensor<i64>) -> tensor<i64>
    %2 = stablehlo.remainder %arg0, %1 : tensor<i64>
    %c_1 = stablehlo.constant dense<0> : tensor<i64>
    %3 = stablehlo.compare NE, %2, %c_1, SIGNED : (tensor<i64>, tensor<i64>) -> tensor<i1>
    %c_2 = stablehlo.constant dense<0> : tensor<i64>
    %4 = stablehlo.compare LT, %2, %c_2, SIGNED : (tensor<i64>, tensor<i64>) -> tensor<i1>
    %c_3 = stablehlo.constant dense<0> : tensor<i64>
    %5 = stablehlo.compare LT, %1, %c_3, SIGNED : (tensor<i64>, tensor<i64>) -> tensor<i1>
    %6 = stablehlo.compare NE, %4, %5, UNSIGNED : (tensor<i1>, tensor<i1>) -> tensor<i1>
    %7 = stablehlo.and %6, %3 : tensor<i1>
    %8 = stablehlo.add %2, %1 : tensor<i64>
    %9 = stablehlo.select %7, %8, %2 : tensor<i1>, tensor<i64>
    return %9 : tensor<i64>
  }
  func.func private @_where(%arg0: tensor<i1>, %arg1: tensor<i64>, %arg2: tensor<i64>) -> tensor<i64> {
    %0 = stablehlo.select %arg0, %arg1, %arg2 : tensor<i1>, tensor<i64>
    return %0 : tensor<i64>
  }
}
