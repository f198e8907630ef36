module @jit_loss attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<3xf64>, %arg1: tensor<3xf64>) -> (tensor<f64> {jax.result_info = "result"}) {
    %0 = stablehlo.complex %arg0, %arg1 : tensor<3xcomplex<f64>>
    %1 = stablehlo.real %0 : (tensor<3xcomplex<f64>>) -> tensor<3xf64>
    %2 = stablehlo.iota dim = 0 : tensor<3xf64>
    %cst = stablehlo.constant dense<1.000000e+00> : tensor<f64>
    %3 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f64>) -> tensor<3xf64>
    %4 = stablehlo.add %3, %2 : tensor<3xf64>
    %5 = stablehlo.cosine %4 : tensor<3xf64>
    %6 = stablehlo.real %0 : (tensor<3xcomplex<f64>>) -> tensor<3xf64>
    %7 = stablehlo.multiply %5, %6 : tensor<3xf64>
    %cst_0 = stablehlo.constant dense<0.000000e+00> : tensor<f64>
    %8 = stablehlo.reduce(%7 init: %cst_0) applies stablehlo.add across dimensions = [0] : (tensor<3xf64>, tensor<f64>) -> tensor<f64>
    %cst_1 = stablehlo.constant dense<0.000000e+00> : tensor<f64>
    %9 = stablehlo.add %cst_1, %8 : tensor<f64>
    %10 = stablehlo.sine %4 : tensor<3xf64>
    %11 = stablehlo.imag %0 : (tensor<3xcomplex<f64>>) -> tensor<3xf64>
    %12 = stablehlo.multiply %10, %11 : tensor<3xf64>
    %cst_2 = stablehlo.constant dense<0.000000e+00> : tensor<f64>
    %13 = stablehlo.reduce(%12 init: %cst_2) applies stablehlo.add across dimensions = [0] : (tensor<3xf64>, tensor<f64>) -> tensor<f64>
    %14 = stablehlo.add %9, %13 : tensor<f64>
    return %14 : tensor<f64>
  }
}
