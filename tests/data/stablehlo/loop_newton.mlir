"builtin.module"() <{sym_name = "jit_loss"}> ({
  "func.func"() <{arg_attrs = [{}], function_type = (tensor<f64>) -> tensor<f64>, res_attrs = [{jax.result_info = "result"}], sym_name = "main", sym_visibility = "public"}> ({
  ^bb0(%arg0: tensor<f64>):
    %0 = "stablehlo.constant"() <{value = dense<1.000000e+00> : tensor<f64>}> : () -> tensor<f64>
    %1 = "stablehlo.add"(%arg0, %0) : (tensor<f64>, tensor<f64>) -> tensor<f64>
    %2:3 = "stablehlo.while"(%arg0, %arg0, %1) ({
    ^bb0(%arg6: tensor<f64>, %arg7: tensor<f64>, %arg8: tensor<f64>):
      %19 = "stablehlo.multiply"(%arg8, %arg8) : (tensor<f64>, tensor<f64>) -> tensor<f64>
      %20 = "stablehlo.subtract"(%19, %arg6) : (tensor<f64>, tensor<f64>) -> tensor<f64>
      %21 = "stablehlo.abs"(%20) : (tensor<f64>) -> tensor<f64>
      %22 = "stablehlo.constant"() <{value = dense<9.9999999999999998E-13> : tensor<f64>}> : () -> tensor<f64>
      %23 = "stablehlo.compare"(%21, %22) <{compare_type = #stablehlo<comparison_type FLOAT>, comparison_direction = #stablehlo<comparison_direction GT>}> : (tensor<f64>, tensor<f64>) -> tensor<i1>
      "stablehlo.return"(%23) : (tensor<i1>) -> ()
    }, {
    ^bb0(%arg3: tensor<f64>, %arg4: tensor<f64>, %arg5: tensor<f64>):
      %15 = "stablehlo.divide"(%arg4, %arg5) : (tensor<f64>, tensor<f64>) -> tensor<f64>
      %16 = "stablehlo.add"(%arg5, %15) : (tensor<f64>, tensor<f64>) -> tensor<f64>
      %17 = "stablehlo.constant"() <{value = dense<5.000000e-01> : tensor<f64>}> : () -> tensor<f64>
      %18 = "stablehlo.multiply"(%17, %16) : (tensor<f64>, tensor<f64>) -> tensor<f64>
      "stablehlo.return"(%arg3, %arg4, %18) : (tensor<f64>, tensor<f64>, tensor<f64>) -> ()
    }) : (tensor<f64>, tensor<f64>, tensor<f64>) -> (tensor<f64>, tensor<f64>, tensor<f64>)
    %3 = "stablehlo.iota"() <{iota_dimension = 0 : i64}> : () -> tensor<1xf64>
    %4 = "stablehlo.constant"() <{value = dense<1.000000e+00> : tensor<f64>}> : () -> tensor<f64>
    %5 = "stablehlo.broadcast_in_dim"(%4) <{broadcast_dimensions = array<i64>}> : (tensor<f64>) -> tensor<1xf64>
    %6 = "stablehlo.add"(%5, %3) : (tensor<1xf64>, tensor<1xf64>) -> tensor<1xf64>
    %7 = "stablehlo.cosine"(%6) : (tensor<1xf64>) -> tensor<1xf64>
    %8 = "stablehlo.reshape"(%7) : (tensor<1xf64>) -> tensor<f64>
    %9 = "stablehlo.multiply"(%8, %2#2) : (tensor<f64>, tensor<f64>) -> tensor<f64>
    %10 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f64>}> : () -> tensor<f64>
    %11 = "stablehlo.reduce"(%9, %10) <{dimensions = array<i64>}> ({
    ^bb0(%arg1: tensor<f64>, %arg2: tensor<f64>):
      %14 = "stablehlo.add"(%arg1, %arg2) : (tensor<f64>, tensor<f64>) -> tensor<f64>
      "stablehlo.return"(%14) : (tensor<f64>) -> ()
    }) : (tensor<f64>, tensor<f64>) -> tensor<f64>
    %12 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f64>}> : () -> tensor<f64>
    %13 = "stablehlo.add"(%12, %11) : (tensor<f64>, tensor<f64>) -> tensor<f64>
    "func.return"(%13) : (tensor<f64>) -> ()
  }) : () -> ()
}) {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} : () -> ()
