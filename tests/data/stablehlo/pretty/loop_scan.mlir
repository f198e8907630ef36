module @jit_loss attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<6x3xf64>, %arg1: tensor<3x3xf64>) -> (tensor<f64> {jax.result_info = "result"}) {
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f64>
    %0 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f64>) -> tensor<3xf64>
    %cst_0 = stablehlo.constant dense<0.000000e+00> : tensor<f64>
    %1 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f64>) -> tensor<6x3xf64>
    %c = stablehlo.constant dense<0> : tensor<i64>
    %2:5 = stablehlo.while(%iterArg = %arg0, %iterArg_6 = %arg1, %iterArg_7 = %c, %iterArg_8 = %0, %iterArg_9 = %1) : tensor<6x3xf64>, tensor<3x3xf64>, tensor<i64>, tensor<3xf64>, tensor<6x3xf64>
    cond {
      %c_10 = stablehlo.constant dense<6> : tensor<i64>
      %18 = stablehlo.compare LT, %iterArg_7, %c_10, SIGNED : (tensor<i64>, tensor<i64>) -> tensor<i1>
      stablehlo.return %18 : tensor<i1>
    } do {
      %18 = func.call @dynamic_index_in_dim(%iterArg, %iterArg_7) : (tensor<6x3xf64>, tensor<i64>) -> tensor<3xf64>
      %19:2 = func.call @closed_call(%iterArg_6, %iterArg_8, %18) : (tensor<3x3xf64>, tensor<3xf64>, tensor<3xf64>) -> (tensor<3xf64>, tensor<3xf64>)
      %20 = func.call @dynamic_update_index_in_dim(%iterArg_9, %19#1, %iterArg_7) : (tensor<6x3xf64>, tensor<3xf64>, tensor<i64>) -> tensor<6x3xf64>
      %c_10 = stablehlo.constant dense<1> : tensor<i64>
      %21 = stablehlo.add %iterArg_7, %c_10 : tensor<i64>
      stablehlo.return %iterArg, %iterArg_6, %21, %19#0, %20 : tensor<6x3xf64>, tensor<3x3xf64>, tensor<i64>, tensor<3xf64>, tensor<6x3xf64>
    }
    %3 = stablehlo.iota dim = 0 : tensor<3xf64>
    %cst_1 = stablehlo.constant dense<1.000000e+00> : tensor<f64>
    %4 = stablehlo.broadcast_in_dim %cst_1, dims = [] : (tensor<f64>) -> tensor<3xf64>
    %5 = stablehlo.add %4, %3 : tensor<3xf64>
    %6 = stablehlo.cosine %5 : tensor<3xf64>
    %7 = stablehlo.multiply %6, %2#3 : tensor<3xf64>
    %cst_2 = stablehlo.constant dense<0.000000e+00> : tensor<f64>
    %8 = stablehlo.reduce(%7 init: %cst_2) applies stablehlo.add across dimensions = [0] : (tensor<3xf64>, tensor<f64>) -> tensor<f64>
    %cst_3 = stablehlo.constant dense<0.000000e+00> : tensor<f64>
    %9 = stablehlo.add %cst_3, %8 : tensor<f64>
    %10 = stablehlo.iota dim = 0 : tensor<18xf64>
    %cst_4 = stablehlo.constant dense<2.000000e+00> : tensor<f64>
    %11 = stablehlo.broadcast_in_dim %cst_4, dims = [] : (tensor<f64>) -> tensor<18xf64>
    %12 = stablehlo.add %11, %10 : tensor<18xf64>
    %13 = stablehlo.cosine %12 : tensor<18xf64>
    %14 = stablehlo.reshape %13 : (tensor<18xf64>) -> tensor<6x3xf64>
    %15 = stablehlo.multiply %14, %2#4 : tensor<6x3xf64>
    %cst_5 = stablehlo.constant dense<0.000000e+00> : tensor<f64>
    %16 = stablehlo.reduce(%15 init: %cst_5) applies stablehlo.add across dimensions = [0, 1] : (tensor<6x3xf64>, tensor<f64>) -> tensor<f64>
    %17 = stablehlo.add %9, %16 : tensor<f64>
    return %17 : tensor<f64>
  }
  func.func private @dynamic_index_in_dim(%arg0: tensor<6x3xf64>, %arg1: tensor<i64>) -> tensor<3xf64> {
    %c = stablehlo.constant dense<0> : tensor<i64>
    %0 = stablehlo.dynamic_slice %arg0, %arg1, %c, sizes = [1, 3] : (tensor<6x3xf64>, tensor<i64>, tensor<i64>) -> tensor<1x3xf64>
    %1 = stablehlo.reshape %0 : (tensor<1x3xf64>) -> tensor<3xf64>
    return %1 : tensor<3xf64>
  }
  func.func private @closed_call(%arg0: tensor<3x3xf64>, %arg1: tensor<3xf64>, %arg2: tensor<3xf64>) -> (tensor<3xf64>, tensor<3xf64>) {
    %0 = stablehlo.dot_general %arg0, %arg1, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<3x3xf64>, tensor<3xf64>) -> tensor<3xf64>
    %1 = stablehlo.add %0, %arg2 : tensor<3xf64>
    %2 = stablehlo.tanh %1 : tensor<3xf64>
    return %2, %2 : tensor<3xf64>, tensor<3xf64>
  }
  func.func private @dynamic_update_index_in_dim(%arg0: tensor<6x3xf64>, %arg1: tensor<3xf64>, %arg2: tensor<i64>) -> tensor<6x3xf64> {
    %0 = stablehlo.broadcast_in_dim %arg1, dims = [1] : (tensor<3xf64>) -> tensor<1x3xf64>
    %c = stablehlo.constant dense<0> : tensor<i64>
    %1 = stablehlo.dynamic_update_slice %arg0, %0, %arg2, %c : (tensor<6x3xf64>, tensor<1x3xf64>, tensor<i64>, tensor<i64>) -> tensor<6x3xf64>
    return %1 : tensor<6x3xf64>
  }
}
