"builtin.module"() <{sym_name = "jit_loss"}> ({
  "func.func"() <{arg_attrs = [{}], function_type = (tensor<5xf64>) -> tensor<f64>, res_attrs = [{jax.result_info = "result"}], sym_name = "main", sym_visibility = "public"}> ({
  ^bb0(%arg0: tensor<5xf64>):
    %0 = "stablehlo.constant"() <{value = dense<[1.500000e+00, 2.000000e+00, 2.500000e+00, 3.000000e+00, 7.250000e+00]> : tensor<5xf64>}> : () -> tensor<5xf64>
    %1 = "stablehlo.constant"() <{value = dense<[0.69999999999999996, 1.000000e+00, 4.500000e+00, 2.000000e-02, 3.000000e+01]> : tensor<5xf64>}> : () -> tensor<5xf64>
    %2 = "chlo.zeta"(%0, %1) : (tensor<5xf64>, tensor<5xf64>) -> tensor<5xf64>
    %3 = "stablehlo.multiply"(%arg0, %2) : (tensor<5xf64>, tensor<5xf64>) -> tensor<5xf64>
    %4 = "stablehlo.iota"() <{iota_dimension = 0 : i64}> : () -> tensor<5xf64>
    %5 = "stablehlo.constant"() <{value = dense<1.000000e+00> : tensor<f64>}> : () -> tensor<f64>
    %6 = "stablehlo.broadcast_in_dim"(%5) <{broadcast_dimensions = array<i64>}> : (tensor<f64>) -> tensor<5xf64>
    %7 = "stablehlo.add"(%6, %4) : (tensor<5xf64>, tensor<5xf64>) -> tensor<5xf64>
    %8 = "stablehlo.cosine"(%7) : (tensor<5xf64>) -> tensor<5xf64>
    %9 = "stablehlo.multiply"(%8, %3) : (tensor<5xf64>, tensor<5xf64>) -> tensor<5xf64>
    %10 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f64>}> : () -> tensor<f64>
    %11 = "stablehlo.reduce"(%9, %10) <{dimensions = array<i64: 0>}> ({
    ^bb0(%arg1: tensor<f64>, %arg2: tensor<f64>):
      %14 = "stablehlo.add"(%arg1, %arg2) : (tensor<f64>, tensor<f64>) -> tensor<f64>
      "stablehlo.return"(%14) : (tensor<f64>) -> ()
    }) : (tensor<5xf64>, tensor<f64>) -> tensor<f64>
    %12 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f64>}> : () -> tensor<f64>
    %13 = "stablehlo.add"(%12, %11) : (tensor<f64>, tensor<f64>) -> tensor<f64>
    "func.return"(%13) : (tensor<f64>) -> ()
  }) : () -> ()
}) {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} : () -> ()
