"builtin.module"() <{sym_name = "jit_loss"}> ({
  "func.func"() <{arg_attrs = [{}, {}], function_type = (tensor<6xf64>, tensor<4xui32>) -> tensor<f64>, res_attrs = [{jax.result_info = "result"}], sym_name = "main", sym_visibility = "public"}> ({
  ^bb0(%arg0: tensor<6xf64>, %arg1: tensor<4xui32>):
    %0 = "stablehlo.reshape"(%arg1) : (tensor<4xui32>) -> tensor<2x2xui32>
    %1 = "stablehlo.bitcast_convert"(%0) : (tensor<2x2xui32>) -> tensor<2xui64>
    %2:2 = "stablehlo.rng_bit_generator"(%1) <{rng_algorithm = #stablehlo<rng_algorithm THREE_FRY>}> : (tensor<2xui64>) -> (tensor<2xui64>, tensor<6xui64>)
    %3 = "stablehlo.bitcast_convert"(%2#0) : (tensor<2xui64>) -> tensor<2x2xui32>
    %4 = "stablehlo.reshape"(%3) : (tensor<2x2xui32>) -> tensor<4xui32>
    %5 = "stablehlo.convert"(%2#1) : (tensor<6xui64>) -> tensor<6xf64>
    %6 = "stablehlo.multiply"(%arg0, %5) : (tensor<6xf64>, tensor<6xf64>) -> tensor<6xf64>
    %7 = "stablehlo.constant"() <{value = dense<9.9999999999999998E-20> : tensor<f64>}> : () -> tensor<f64>
    %8 = "stablehlo.broadcast_in_dim"(%7) <{broadcast_dimensions = array<i64>}> : (tensor<f64>) -> tensor<6xf64>
    %9 = "stablehlo.multiply"(%6, %8) : (tensor<6xf64>, tensor<6xf64>) -> tensor<6xf64>
    %10 = "stablehlo.iota"() <{iota_dimension = 0 : i64}> : () -> tensor<6xf64>
    %11 = "stablehlo.constant"() <{value = dense<1.000000e+00> : tensor<f64>}> : () -> tensor<f64>
    %12 = "stablehlo.broadcast_in_dim"(%11) <{broadcast_dimensions = array<i64>}> : (tensor<f64>) -> tensor<6xf64>
    %13 = "stablehlo.add"(%12, %10) : (tensor<6xf64>, tensor<6xf64>) -> tensor<6xf64>
    %14 = "stablehlo.cosine"(%13) : (tensor<6xf64>) -> tensor<6xf64>
    %15 = "stablehlo.multiply"(%14, %9) : (tensor<6xf64>, tensor<6xf64>) -> tensor<6xf64>
    %16 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f64>}> : () -> tensor<f64>
    %17 = "stablehlo.reduce"(%15, %16) <{dimensions = array<i64: 0>}> ({
    ^bb0(%arg2: tensor<f64>, %arg3: tensor<f64>):
      %20 = "stablehlo.add"(%arg2, %arg3) : (tensor<f64>, tensor<f64>) -> tensor<f64>
      "stablehlo.return"(%20) : (tensor<f64>) -> ()
    }) : (tensor<6xf64>, tensor<f64>) -> tensor<f64>
    %18 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f64>}> : () -> tensor<f64>
    %19 = "stablehlo.add"(%18, %17) : (tensor<f64>, tensor<f64>) -> tensor<f64>
    "func.return"(%19) : (tensor<f64>) -> ()
  }) : () -> ()
}) {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} : () -> ()
