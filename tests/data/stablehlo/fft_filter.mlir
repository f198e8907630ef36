"builtin.module"() <{sym_name = "jit_loss"}> ({
  "func.func"() <{arg_attrs = [{}, {}], function_type = (tensor<10xf64>, tensor<10xf64>) -> tensor<f64>, res_attrs = [{jax.result_info = "result"}], sym_name = "main", sym_visibility = "public"}> ({
  ^bb0(%arg2: tensor<10xf64>, %arg3: tensor<10xf64>):
    %2 = "func.call"(%arg2) <{callee = @fft}> : (tensor<10xf64>) -> tensor<6xcomplex<f64>>
    %3 = "func.call"(%arg3) <{callee = @fft}> : (tensor<10xf64>) -> tensor<6xcomplex<f64>>
    %4 = "stablehlo.multiply"(%2, %3) : (tensor<6xcomplex<f64>>, tensor<6xcomplex<f64>>) -> tensor<6xcomplex<f64>>
    %5 = "func.call"(%4) <{callee = @fft_0}> : (tensor<6xcomplex<f64>>) -> tensor<10xf64>
    %6 = "stablehlo.iota"() <{iota_dimension = 0 : i64}> : () -> tensor<10xf64>
    %7 = "stablehlo.constant"() <{value = dense<1.000000e+00> : tensor<f64>}> : () -> tensor<f64>
    %8 = "stablehlo.broadcast_in_dim"(%7) <{broadcast_dimensions = array<i64>}> : (tensor<f64>) -> tensor<10xf64>
    %9 = "stablehlo.add"(%8, %6) : (tensor<10xf64>, tensor<10xf64>) -> tensor<10xf64>
    %10 = "stablehlo.cosine"(%9) : (tensor<10xf64>) -> tensor<10xf64>
    %11 = "stablehlo.multiply"(%10, %5) : (tensor<10xf64>, tensor<10xf64>) -> tensor<10xf64>
    %12 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f64>}> : () -> tensor<f64>
    %13 = "stablehlo.reduce"(%11, %12) <{dimensions = array<i64: 0>}> ({
    ^bb0(%arg4: tensor<f64>, %arg5: tensor<f64>):
      %16 = "stablehlo.add"(%arg4, %arg5) : (tensor<f64>, tensor<f64>) -> tensor<f64>
      "stablehlo.return"(%16) : (tensor<f64>) -> ()
    }) : (tensor<10xf64>, tensor<f64>) -> tensor<f64>
    %14 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f64>}> : () -> tensor<f64>
    %15 = "stablehlo.add"(%14, %13) : (tensor<f64>, tensor<f64>) -> tensor<f64>
    "func.return"(%15) : (tensor<f64>) -> ()
  }) : () -> ()
  "func.func"() <{arg_attrs = [{}], function_type = (tensor<10xf64>) -> tensor<6xcomplex<f64>>, res_attrs = [{}], sym_name = "fft", sym_visibility = "private"}> ({
  ^bb0(%arg1: tensor<10xf64>):
    %1 = "stablehlo.fft"(%arg1) <{fft_length = array<i64: 10>, fft_type = #stablehlo<fft_type RFFT>}> : (tensor<10xf64>) -> tensor<6xcomplex<f64>>
    "func.return"(%1) : (tensor<6xcomplex<f64>>) -> ()
  }) : () -> ()
  "func.func"() <{arg_attrs = [{}], function_type = (tensor<6xcomplex<f64>>) -> tensor<10xf64>, res_attrs = [{}], sym_name = "fft_0", sym_visibility = "private"}> ({
  ^bb0(%arg0: tensor<6xcomplex<f64>>):
    %0 = "stablehlo.fft"(%arg0) <{fft_length = array<i64: 10>, fft_type = #stablehlo<fft_type IRFFT>}> : (tensor<6xcomplex<f64>>) -> tensor<10xf64>
    "func.return"(%0) : (tensor<10xf64>) -> ()
  }) : () -> ()
}) {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} : () -> ()
