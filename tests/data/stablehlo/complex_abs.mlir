"builtin.module"() <{sym_name = "jit_loss"}> ({
  "func.func"() <{arg_attrs = [{}], function_type = (tensor<3x4xcomplex<f64>>) -> tensor<f64>, res_attrs = [{jax.result_info = "result"}], sym_name = "main", sym_visibility = "public"}> ({
  ^bb0(%arg0: tensor<3x4xcomplex<f64>>):
    %0 = "stablehlo.abs"(%arg0) : (tensor<3x4xcomplex<f64>>) -> tensor<3x4xf64>
    %1 = "stablehlo.iota"() <{iota_dimension = 0 : i64}> : () -> tensor<12xf64>
    %2 = "stablehlo.constant"() <{value = dense<1.000000e+00> : tensor<f64>}> : () -> tensor<f64>
    %3 = "stablehlo.broadcast_in_dim"(%2) <{broadcast_dimensions = array<i64>}> : (tensor<f64>) -> tensor<12xf64>
    %4 = "stablehlo.add"(%3, %1) : (tensor<12xf64>, tensor<12xf64>) -> tensor<12xf64>
    %5 = "stablehlo.reshape"(%4) : (tensor<12xf64>) -> tensor<3x4xf64>
    %6 = "stablehlo.cosine"(%5) : (tensor<3x4xf64>) -> tensor<3x4xf64>
    %7 = "stablehlo.multiply"(%6, %0) : (tensor<3x4xf64>, tensor<3x4xf64>) -> tensor<3x4xf64>
    %8 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f64>}> : () -> tensor<f64>
    %9 = "stablehlo.reduce"(%7, %8) <{dimensions = array<i64: 0, 1>}> ({
    ^bb0(%arg1: tensor<f64>, %arg2: tensor<f64>):
      %12 = "stablehlo.add"(%arg1, %arg2) : (tensor<f64>, tensor<f64>) -> tensor<f64>
      "stablehlo.return"(%12) : (tensor<f64>) -> ()
    }) : (tensor<3x4xf64>, tensor<f64>) -> tensor<f64>
    %10 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f64>}> : () -> tensor<f64>
    %11 = "stablehlo.add"(%10, %9) : (tensor<f64>, tensor<f64>) -> tensor<f64>
    "func.return"(%11) : (tensor<f64>) -> ()
  }) : () -> ()
}) {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} : () -> ()
