"builtin.module"() <{sym_name = "jit_loss"}> ({
  "func.func"() <{arg_attrs = [{}], function_type = (tensor<5x2xf64>) -> tensor<f64>, res_attrs = [{jax.result_info = "result"}], sym_name = "main", sym_visibility = "public"}> ({
  ^bb0(%arg3: tensor<5x2xf64>):
    %4 = "func.call"(%arg3) <{callee = @cumsum}> : (tensor<5x2xf64>) -> tensor<5x2xf64>
    %5 = "stablehlo.iota"() <{iota_dimension = 0 : i64}> : () -> tensor<10xf64>
    %6 = "stablehlo.constant"() <{value = dense<1.000000e+00> : tensor<f64>}> : () -> tensor<f64>
    %7 = "stablehlo.broadcast_in_dim"(%6) <{broadcast_dimensions = array<i64>}> : (tensor<f64>) -> tensor<10xf64>
    %8 = "stablehlo.add"(%7, %5) : (tensor<10xf64>, tensor<10xf64>) -> tensor<10xf64>
    %9 = "stablehlo.cosine"(%8) : (tensor<10xf64>) -> tensor<10xf64>
    %10 = "stablehlo.reshape"(%9) : (tensor<10xf64>) -> tensor<5x2xf64>
    %11 = "stablehlo.multiply"(%10, %4) : (tensor<5x2xf64>, tensor<5x2xf64>) -> tensor<5x2xf64>
    %12 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f64>}> : () -> tensor<f64>
    %13 = "stablehlo.reduce"(%11, %12) <{dimensions = array<i64: 0, 1>}> ({
    ^bb0(%arg4: tensor<f64>, %arg5: tensor<f64>):
      %16 = "stablehlo.add"(%arg4, %arg5) : (tensor<f64>, tensor<f64>) -> tensor<f64>
      "stablehlo.return"(%16) : (tensor<f64>) -> ()
    }) : (tensor<5x2xf64>, tensor<f64>) -> tensor<f64>
    %14 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f64>}> : () -> tensor<f64>
    %15 = "stablehlo.add"(%14, %13) : (tensor<f64>, tensor<f64>) -> tensor<f64>
    "func.return"(%15) : (tensor<f64>) -> ()
  }) : () -> ()
  "func.func"() <{function_type = (tensor<5x2xf64>) -> tensor<5x2xf64>, sym_name = "cumsum", sym_visibility = "private"}> ({
  ^bb0(%arg0: tensor<5x2xf64>):
    %0 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f64>}> : () -> tensor<f64>
    %1 = "stablehlo.broadcast_in_dim"(%0) <{broadcast_dimensions = array<i64>}> : (tensor<f64>) -> tensor<f64>
    %2 = "stablehlo.reduce_window"(%arg0, %1) <{base_dilations = array<i64: 1, 1>, padding = dense<[[0, 4], [0, 0]]> : tensor<2x2xi64>, window_dilations = array<i64: 1, 1>, window_dimensions = array<i64: 5, 1>, window_strides = array<i64: 1, 1>}> ({
    ^bb0(%arg1: tensor<f64>, %arg2: tensor<f64>):
      %3 = "stablehlo.add"(%arg1, %arg2) : (tensor<f64>, tensor<f64>) -> tensor<f64>
      "stablehlo.return"(%3) : (tensor<f64>) -> ()
    }) : (tensor<5x2xf64>, tensor<f64>) -> tensor<5x2xf64>
    "func.return"(%2) : (tensor<5x2xf64>) -> ()
  }) : () -> ()
}) {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} : () -> ()
