"builtin.module"() <{sym_name = "jit_loss"}> ({
  "func.func"() <{arg_attrs = [{}], function_type = (tensor<2x6xf64>) -> tensor<f64>, res_attrs = [{jax.result_info = "result"}], sym_name = "main", sym_visibility = "public"}> ({
  ^bb0(%arg3: tensor<2x6xf64>):
    %3 = "func.call"(%arg3) <{callee = @cumprod}> : (tensor<2x6xf64>) -> tensor<2x6xf64>
    %4 = "stablehlo.iota"() <{iota_dimension = 0 : i64}> : () -> tensor<12xf64>
    %5 = "stablehlo.constant"() <{value = dense<1.000000e+00> : tensor<f64>}> : () -> tensor<f64>
    %6 = "stablehlo.broadcast_in_dim"(%5) <{broadcast_dimensions = array<i64>}> : (tensor<f64>) -> tensor<12xf64>
    %7 = "stablehlo.add"(%6, %4) : (tensor<12xf64>, tensor<12xf64>) -> tensor<12xf64>
    %8 = "stablehlo.cosine"(%7) : (tensor<12xf64>) -> tensor<12xf64>
    %9 = "stablehlo.reshape"(%8) : (tensor<12xf64>) -> tensor<2x6xf64>
    %10 = "stablehlo.multiply"(%9, %3) : (tensor<2x6xf64>, tensor<2x6xf64>) -> tensor<2x6xf64>
    %11 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f64>}> : () -> tensor<f64>
    %12 = "stablehlo.reduce"(%10, %11) <{dimensions = array<i64: 0, 1>}> ({
    ^bb0(%arg4: tensor<f64>, %arg5: tensor<f64>):
      %15 = "stablehlo.add"(%arg4, %arg5) : (tensor<f64>, tensor<f64>) -> tensor<f64>
      "stablehlo.return"(%15) : (tensor<f64>) -> ()
    }) : (tensor<2x6xf64>, tensor<f64>) -> tensor<f64>
    %13 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f64>}> : () -> tensor<f64>
    %14 = "stablehlo.add"(%13, %12) : (tensor<f64>, tensor<f64>) -> tensor<f64>
    "func.return"(%14) : (tensor<f64>) -> ()
  }) : () -> ()
  "func.func"() <{function_type = (tensor<2x6xf64>) -> tensor<2x6xf64>, sym_name = "cumprod", sym_visibility = "private"}> ({
  ^bb0(%arg0: tensor<2x6xf64>):
    %0 = "stablehlo.constant"() <{value = dense<1.000000e+00> : tensor<f64>}> : () -> tensor<f64>
    %1 = "stablehlo.reduce_window"(%arg0, %0) <{base_dilations = array<i64: 1, 1>, padding = dense<[[0, 0], [5, 0]]> : tensor<2x2xi64>, window_dilations = array<i64: 1, 1>, window_dimensions = array<i64: 1, 6>, window_strides = array<i64: 1, 1>}> ({
    ^bb0(%arg1: tensor<f64>, %arg2: tensor<f64>):
      %2 = "stablehlo.multiply"(%arg1, %arg2) : (tensor<f64>, tensor<f64>) -> tensor<f64>
      "stablehlo.return"(%2) : (tensor<f64>) -> ()
    }) : (tensor<2x6xf64>, tensor<f64>) -> tensor<2x6xf64>
    "func.return"(%1) : (tensor<2x6xf64>) -> ()
  }) : () -> ()
}) {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} : () -> ()
