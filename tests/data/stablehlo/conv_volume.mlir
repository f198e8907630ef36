"builtin.module"() <{sym_name = "jit_loss"}> ({
  "func.func"() <{arg_attrs = [{}, {}], function_type = (tensor<2x2x5x4x3xf64>, tensor<3x2x2x3x2xf64>) -> tensor<f64>, res_attrs = [{jax.result_info = "result"}], sym_name = "main", sym_visibility = "public"}> ({
  ^bb0(%arg0: tensor<2x2x5x4x3xf64>, %arg1: tensor<3x2x2x3x2xf64>):
    %0 = "stablehlo.convolution"(%arg0, %arg1) <{batch_group_count = 1 : i64, dimension_numbers = #stablehlo.conv<[b, f, 0, 1, 2]x[o, i, 0, 1, 2]->[b, f, 0, 1, 2]>, feature_group_count = 1 : i64, lhs_dilation = array<i64: 1, 1, 1>, padding = dense<[[1, 0], [1, 1], [0, 1]]> : tensor<3x2xi64>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>], rhs_dilation = array<i64: 2, 1, 1>, window_reversal = array<i1: false, false, false>, window_strides = array<i64: 1, 2, 1>}> : (tensor<2x2x5x4x3xf64>, tensor<3x2x2x3x2xf64>) -> tensor<2x3x4x2x3xf64>
    %1 = "stablehlo.iota"() <{iota_dimension = 0 : i64}> : () -> tensor<144xf64>
    %2 = "stablehlo.constant"() <{value = dense<1.000000e+00> : tensor<f64>}> : () -> tensor<f64>
    %3 = "stablehlo.broadcast_in_dim"(%2) <{broadcast_dimensions = array<i64>}> : (tensor<f64>) -> tensor<144xf64>
    %4 = "stablehlo.add"(%3, %1) : (tensor<144xf64>, tensor<144xf64>) -> tensor<144xf64>
    %5 = "stablehlo.cosine"(%4) : (tensor<144xf64>) -> tensor<144xf64>
    %6 = "stablehlo.reshape"(%5) : (tensor<144xf64>) -> tensor<2x3x4x2x3xf64>
    %7 = "stablehlo.multiply"(%6, %0) : (tensor<2x3x4x2x3xf64>, tensor<2x3x4x2x3xf64>) -> tensor<2x3x4x2x3xf64>
    %8 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f64>}> : () -> tensor<f64>
    %9 = "stablehlo.reduce"(%7, %8) <{dimensions = array<i64: 0, 1, 2, 3, 4>}> ({
    ^bb0(%arg2: tensor<f64>, %arg3: tensor<f64>):
      %12 = "stablehlo.add"(%arg2, %arg3) : (tensor<f64>, tensor<f64>) -> tensor<f64>
      "stablehlo.return"(%12) : (tensor<f64>) -> ()
    }) : (tensor<2x3x4x2x3xf64>, tensor<f64>) -> tensor<f64>
    %10 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f64>}> : () -> tensor<f64>
    %11 = "stablehlo.add"(%10, %9) : (tensor<f64>, tensor<f64>) -> tensor<f64>
    "func.return"(%11) : (tensor<f64>) -> ()
  }) : () -> ()
}) {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} : () -> ()
