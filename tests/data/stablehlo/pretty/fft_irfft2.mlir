module @jit_loss attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<3x4x6xcomplex<f64>>) -> (tensor<f64> {jax.result_info = "result"}) {
    %0 = call @fft(%arg0) : (tensor<3x4x6xcomplex<f64>>) -> tensor<3x4x10xf64>
    %1 = stablehlo.iota dim = 0 : tensor<120xf64>
    %cst = stablehlo.constant dense<1.000000e+00> : tensor<f64>
    %2 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f64>) -> tensor<120xf64>
    %3 = stablehlo.add %2, %1 : tensor<120xf64>
    %4 = stablehlo.reshape %3 : (tensor<120xf64>) -> tensor<3x4x10xf64>
    %5 = stablehlo.cosine %4 : tensor<3x4x10xf64>
    %6 = stablehlo.multiply %5, %0 : tensor<3x4x10xf64>
    %cst_0 = stablehlo.constant dense<0.000000e+00> : tensor<f64>
    %7 = stablehlo.reduce(%6 init: %cst_0) applies stablehlo.add across dimensions = [0, 1, 2] : (tensor<3x4x10xf64>, tensor<f64>) -> tensor<f64>
    %cst_1 = stablehlo.constant dense<0.000000e+00> : tensor<f64>
    %8 = stablehlo.add %cst_1, %7 : tensor<f64>
    return %8 : tensor<f64>
  }
  func.func private @fft(%arg0: tensor<3x4x6xcomplex<f64>>) -> tensor<3x4x10xf64> {
    %0 = stablehlo.fft %arg0, type = IRFFT, length = [4, 10] : (tensor<3x4x6xcomplex<f64>>) -> tensor<3x4x10xf64>
    return %0 : tensor<3x4x10xf64>
  }
}
