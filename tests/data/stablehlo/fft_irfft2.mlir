"builtin.module"() <{sym_name = "jit_loss"}> ({
  "func.func"() <{arg_attrs = [{}], function_type = (tensor<3x4x6xcomplex<f64>>) -> tensor<f64>, res_attrs = [{jax.result_info = "result"}], sym_name = "main", sym_visibility = "public"}> ({
  ^bb0(%arg1: tensor<3x4x6xcomplex<f64>>):
    %1 = "func.call"(%arg1) <{callee = @fft}> : (tensor<3x4x6xcomplex<f64>>) -> tensor<3x4x10xf64>
    %2 = "stablehlo.iota"() <{iota_dimension = 0 : i64}> : () -> tensor<120xf64>
    %3 = "stablehlo.constant"() <{value = dense<1.000000e+00> : tensor<f64>}> : () -> tensor<f64>
    %4 = "stablehlo.broadcast_in_dim"(%3) <{broadcast_dimensions = array<i64>}> : (tensor<f64>) -> tensor<120xf64>
    %5 = "stablehlo.add"(%4, %2) : (tensor<120xf64>, tensor<120xf64>) -> tensor<120xf64>
    %6 = "stablehlo.reshape"(%5) : (tensor<120xf64>) -> tensor<3x4x10xf64>
    %7 = "stablehlo.cosine"(%6) : (tensor<3x4x10xf64>) -> tensor<3x4x10xf64>
    %8 = "stablehlo.multiply"(%7, %1) : (tensor<3x4x10xf64>, tensor<3x4x10xf64>) -> tensor<3x4x10xf64>
    %9 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f64>}> : () -> tensor<f64>
    %10 = "stablehlo.reduce"(%8, %9) <{dimensions = array<i64: 0, 1, 2>}> ({
    ^bb0(%arg2: tensor<f64>, %arg3: tensor<f64>):
      %13 = "stablehlo.add"(%arg2, %arg3) : (tensor<f64>, tensor<f64>) -> tensor<f64>
      "stablehlo.return"(%13) : (tensor<f64>) -> ()
    }) : (tensor<3x4x10xf64>, tensor<f64>) -> tensor<f64>
    %11 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f64>}> : () -> tensor<f64>
    %12 = "stablehlo.add"(%11, %10) : (tensor<f64>, tensor<f64>) -> tensor<f64>
    "func.return"(%12) : (tensor<f64>) -> ()
  }) : () -> ()
  "func.func"() <{arg_attrs = [{}], function_type = (tensor<3x4x6xcomplex<f64>>) -> tensor<3x4x10xf64>, res_attrs = [{}], sym_name = "fft", sym_visibility = "private"}> ({
  ^bb0(%arg0: tensor<3x4x6xcomplex<f64>>):
    %0 = "stablehlo.fft"(%arg0) <{fft_length = array<i64: 4, 10>, fft_type = #stablehlo<fft_type IRFFT>}> : (tensor<3x4x6xcomplex<f64>>) -> tensor<3x4x10xf64>
    "func.return"(%0) : (tensor<3x4x10xf64>) -> ()
  }) : () -> ()
}) {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} : () -> ()
