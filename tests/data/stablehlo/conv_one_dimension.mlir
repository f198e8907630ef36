"builtin.module"() <{sym_name = "jit_loss"}> ({
  "func.func"() <{arg_attrs = [{}, {}], function_type = (tensor<8xf64>, tensor<3xf64>) -> tensor<f64>, res_attrs = [{jax.result_info = "result"}], sym_name = "main", sym_visibility = "public"}> ({
  ^bb0(%arg5: tensor<8xf64>, %arg6: tensor<3xf64>):
    %7 = "func.call"(%arg5, %arg6) <{callee = @convolve}> : (tensor<8xf64>, tensor<3xf64>) -> tensor<10xf64>
    %8 = "stablehlo.iota"() <{iota_dimension = 0 : i64}> : () -> tensor<10xf64>
    %9 = "stablehlo.constant"() <{value = dense<1.000000e+00> : tensor<f64>}> : () -> tensor<f64>
    %10 = "stablehlo.broadcast_in_dim"(%9) <{broadcast_dimensions = array<i64>}> : (tensor<f64>) -> tensor<10xf64>
    %11 = "stablehlo.add"(%10, %8) : (tensor<10xf64>, tensor<10xf64>) -> tensor<10xf64>
    %12 = "stablehlo.cosine"(%11) : (tensor<10xf64>) -> tensor<10xf64>
    %13 = "stablehlo.multiply"(%12, %7) : (tensor<10xf64>, tensor<10xf64>) -> tensor<10xf64>
    %14 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f64>}> : () -> tensor<f64>
    %15 = "stablehlo.reduce"(%13, %14) <{dimensions = array<i64: 0>}> ({
    ^bb0(%arg7: tensor<f64>, %arg8: tensor<f64>):
      %18 = "stablehlo.add"(%arg7, %arg8) : (tensor<f64>, tensor<f64>) -> tensor<f64>
      "stablehlo.return"(%18) : (tensor<f64>) -> ()
    }) : (tensor<10xf64>, tensor<f64>) -> tensor<f64>
    %16 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f64>}> : () -> tensor<f64>
    %17 = "stablehlo.add"(%16, %15) : (tensor<f64>, tensor<f64>) -> tensor<f64>
    "func.return"(%17) : (tensor<f64>) -> ()
  }) : () -> ()
  "func.func"() <{arg_attrs = [{}, {}], function_type = (tensor<8xf64>, tensor<3xf64>) -> tensor<10xf64>, res_attrs = [{}], sym_name = "convolve", sym_visibility = "private"}> ({
  ^bb0(%arg3: tensor<8xf64>, %arg4: tensor<3xf64>):
    %6 = "func.call"(%arg3, %arg4) <{callee = @_conv}> : (tensor<8xf64>, tensor<3xf64>) -> tensor<10xf64>
    "func.return"(%6) : (tensor<10xf64>) -> ()
  }) : () -> ()
  "func.func"() <{arg_attrs = [{}, {}], function_type = (tensor<8xf64>, tensor<3xf64>) -> tensor<10xf64>, res_attrs = [{}], sym_name = "_conv", sym_visibility = "private"}> ({
  ^bb0(%arg1: tensor<8xf64>, %arg2: tensor<3xf64>):
    %1 = "func.call"(%arg2) <{callee = @_flip}> : (tensor<3xf64>) -> tensor<3xf64>
    %2 = "stablehlo.broadcast_in_dim"(%arg1) <{broadcast_dimensions = array<i64: 2>}> : (tensor<8xf64>) -> tensor<1x1x8xf64>
    %3 = "stablehlo.broadcast_in_dim"(%1) <{broadcast_dimensions = array<i64: 2>}> : (tensor<3xf64>) -> tensor<1x1x3xf64>
    %4 = "stablehlo.convolution"(%2, %3) <{batch_group_count = 1 : i64, dimension_numbers = #stablehlo.conv<[b, f, 0]x[o, i, 0]->[b, f, 0]>, feature_group_count = 1 : i64, lhs_dilation = array<i64: 1>, padding = dense<2> : tensor<1x2xi64>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>], rhs_dilation = array<i64: 1>, window_reversal = array<i1: false>, window_strides = array<i64: 1>}> : (tensor<1x1x8xf64>, tensor<1x1x3xf64>) -> tensor<1x1x10xf64>
    %5 = "stablehlo.reshape"(%4) : (tensor<1x1x10xf64>) -> tensor<10xf64>
    "func.return"(%5) : (tensor<10xf64>) -> ()
  }) : () -> ()
  "func.func"() <{arg_attrs = [{}], function_type = (tensor<3xf64>) -> tensor<3xf64>, res_attrs = [{}], sym_name = "_flip", sym_visibility = "private"}> ({
  ^bb0(%arg0: tensor<3xf64>):
    %0 = "stablehlo.reverse"(%arg0) <{dimensions = array<i64: 0>}> : (tensor<3xf64>) -> tensor<3xf64>
    "func.return"(%0) : (tensor<3xf64>) -> ()
  }) : () -> ()
}) {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} : () -> ()
