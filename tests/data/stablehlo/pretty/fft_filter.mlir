module @jit_loss attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<10xf64>, %arg1: tensor<10xf64>) -> (tensor<f64> {jax.result_info = "result"}) {
    %0 = call @fft(%arg0) : (tensor<10xf64>) -> tensor<6xcomplex<f64>>
    %1 = call @fft(%arg1) : (tensor<10xf64>) -> tensor<6xcomplex<f64>>
    %2 = stablehlo.multiply %0, %1 : tensor<6xcomplex<f64>>
    %3 = call @fft_0(%2) : (tensor<6xcomplex<f64>>) -> tensor<10xf64>
    %4 = stablehlo.iota dim = 0 : tensor<10xf64>
    %cst = stablehlo.constant dense<1.000000e+00> : tensor<f64>
    %5 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f64>) -> tensor<10xf64>
    %6 = stablehlo.add %5, %4 : tensor<10xf64>
    %7 = stablehlo.cosine %6 : tensor<10xf64>
    %8 = stablehlo.multiply %7, %3 : tensor<10xf64>
    %cst_0 = stablehlo.constant dense<0.000000e+00> : tensor<f64>
    %9 = stablehlo.reduce(%8 init: %cst_0) applies stablehlo.add across dimensions = [0] : (tensor<10xf64>, tensor<f64>) -> tensor<f64>
    %cst_1 = stablehlo.constant dense<0.000000e+00> : tensor<f64>
    %10 = stablehlo.add %cst_1, %9 : tensor<f64>
    return %10 : tensor<f64>
  }
  func.func private @fft(%arg0: tensor<10xf64>) -> tensor<6xcomplex<f64>> {
    %0 = stablehlo.fft %arg0, type = RFFT, length = [10] : (tensor<10xf64>) -> tensor<6xcomplex<f64>>
    return %0 : tensor<6xcomplex<f64>>
  }
  func.func private @fft_0(%arg0: tensor<6xcomplex<f64>>) -> tensor<10xf64> {
    %0 = stablehlo.fft %arg0, type = IRFFT, length = [10] : (tensor<6xcomplex<f64>>) -> tensor<10xf64>
    return %0 : tensor<10xf64>
  }
}
