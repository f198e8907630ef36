module @jit_loss attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<3xcomplex<f64>>, %arg1: tensor<3xcomplex<f64>>) -> (tensor<f64> {jax.result_info = "result"}) {
    %c = stablehlo.constant dense<0> : tensor<i64>
    %c_0 = stablehlo.constant dense<0> : tensor<i64>
    %0:4 = stablehlo.while(%iterArg = %arg1, %iterArg_4 = %c_0, %iterArg_5 = %c, %iterArg_6 = %arg0) : tensor<3xcomplex<f64>>, tensor<i64>, tensor<i64>, tensor<3xcomplex<f64>>
    cond {
      %c_7 = stablehlo.constant dense<5> : tensor<i64>
      %15 = stablehlo.compare LT, %iterArg_4, %c_7, SIGNED : (tensor<i64>, tensor<i64>) -> tensor<i1>
      stablehlo.return %15 : tensor<i1>
    } do {
      %15:2 = func.call @closed_call(%iterArg, %iterArg_5, %iterArg_6) : (tensor<3xcomplex<f64>>, tensor<i64>, tensor<3xcomplex<f64>>) -> (tensor<i64>, tensor<3xcomplex<f64>>)
      %c_7 = stablehlo.constant dense<1> : tensor<i64>
      %16 = stablehlo.add %iterArg_4, %c_7 : tensor<i64>
      stablehlo.return %iterArg, %16, %15#0, %15#1 : tensor<3xcomplex<f64>>, tensor<i64>, tensor<i64>, tensor<3xcomplex<f64>>
    }
    %1 = stablehlo.real %0#3 : (tensor<3xcomplex<f64>>) -> tensor<3xf64>
    %2 = stablehlo.iota dim = 0 : tensor<3xf64>
    %cst = stablehlo.constant dense<1.000000e+00> : tensor<f64>
    %3 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f64>) -> tensor<3xf64>
    %4 = stablehlo.add %3, %2 : tensor<3xf64>
    %5 = stablehlo.cosine %4 : tensor<3xf64>
    %6 = stablehlo.real %0#3 : (tensor<3xcomplex<f64>>) -> tensor<3xf64>
    %7 = stablehlo.multiply %5, %6 : tensor<3xf64>
    %cst_1 = stablehlo.constant dense<0.000000e+00> : tensor<f64>
    %8 = stablehlo.reduce(%7 init: %cst_1) applies stablehlo.add across dimensions = [0] : (tensor<3xf64>, tensor<f64>) -> tensor<f64>
    %cst_2 = stablehlo.constant dense<0.000000e+00> : tensor<f64>
    %9 = stablehlo.add %cst_2, %8 : tensor<f64>
    %10 = stablehlo.sine %4 : tensor<3xf64>
    %11 = stablehlo.imag %0#3 : (tensor<3xcomplex<f64>>) -> tensor<3xf64>
    %12 = stablehlo.multiply %10, %11 : tensor<3xf64>
    %cst_3 = stablehlo.constant dense<0.000000e+00> : tensor<f64>
    %13 = stablehlo.reduce(%12 init: %cst_3) applies stablehlo.add across dimensions = [0] : (tensor<3xf64>, tensor<f64>) -> tensor<f64>
    %14 = stablehlo.add %9, %13 : tensor<f64>
    return %14 : tensor<f64>
  }
  func.func private @closed_call(%arg0: tensor<3xcomplex<f64>>, %arg1: tensor<i64>, %arg2: tensor<3xcomplex<f64>>) -> (tensor<i64>, tensor<3xcomplex<f64>>) {
    %c = stablehlo.constant dense<1> : tensor<i64>
    %0 = stablehlo.add %arg1, %c : tensor<i64>
    %1 = stablehlo.multiply %arg2, %arg2 : tensor<3xcomplex<f64>>
    %2 = stablehlo.add %1, %arg0 : tensor<3xcomplex<f64>>
    return %0, %2 : tensor<i64>, tensor<3xcomplex<f64>>
  }
}
