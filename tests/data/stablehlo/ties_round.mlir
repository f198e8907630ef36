"builtin.module"() <{sym_name = "jit_loss"}> ({
  "func.func"() <{arg_attrs = [{}], function_type = (tensor<9xf64>) -> tensor<f64>, res_attrs = [{jax.result_info = "result"}], sym_name = "main", sym_visibility = "public"}> ({
  ^bb0(%arg0: tensor<9xf64>):
    %0 = "stablehlo.round_nearest_afz"(%arg0) : (tensor<9xf64>) -> tensor<9xf64>
    %1 = "stablehlo.iota"() <{iota_dimension = 0 : i64}> : () -> tensor<9xf64>
    %2 = "stablehlo.constant"() <{value = dense<1.000000e+00> : tensor<f64>}> : () -> tensor<f64>
    %3 = "stablehlo.broadcast_in_dim"(%2) <{broadcast_dimensions = array<i64>}> : (tensor<f64>) -> tensor<9xf64>
    %4 = "stablehlo.add"(%3, %1) : (tensor<9xf64>, tensor<9xf64>) -> tensor<9xf64>
    %5 = "stablehlo.cosine"(%4) : (tensor<9xf64>) -> tensor<9xf64>
    %6 = "stablehlo.multiply"(%5, %0) : (tensor<9xf64>, tensor<9xf64>) -> tensor<9xf64>
    %7 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f64>}> : () -> tensor<f64>
    %8 = "stablehlo.reduce"(%6, %7) <{dimensions = array<i64: 0>}> ({
    ^bb0(%arg1: tensor<f64>, %arg2: tensor<f64>):
      %11 = "stablehlo.add"(%arg1, %arg2) : (tensor<f64>, tensor<f64>) -> tensor<f64>
      "stablehlo.return"(%11) : (tensor<f64>) -> ()
    }) : (tensor<9xf64>, tensor<f64>) -> tensor<f64>
    %9 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f64>}> : () -> tensor<f64>
    %10 = "stablehlo.add"(%9, %8) : (tensor<f64>, tensor<f64>) -> tensor<f64>
    "func.return"(%10) : (tensor<f64>) -> ()
  }) : () -> ()
}) {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} : () -> ()
