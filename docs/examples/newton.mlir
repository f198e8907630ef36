"builtin.module"() <{sym_name = "jit_newton_sqrt"}> ({
  "func.func"() <{arg_attrs = [{}], function_type = (tensor<f64>) -> tensor<f64>, res_attrs = [{jax.result_info = "result"}], sym_name = "main", sym_visibility = "public"}> ({
  ^bb0(%arg0: tensor<f64>):
    %0 = "stablehlo.constant"() <{value = dense<1.000000e+00> : tensor<f64>}> : () -> tensor<f64>
    %1 = "stablehlo.add"(%arg0, %0) : (tensor<f64>, tensor<f64>) -> tensor<f64>
    %2:3 = "stablehlo.while"(%arg0, %arg0, %1) ({
    ^bb0(%arg4: tensor<f64>, %arg5: tensor<f64>, %arg6: tensor<f64>):
      %7 = "stablehlo.multiply"(%arg6, %arg6) : (tensor<f64>, tensor<f64>) -> tensor<f64>
      %8 = "stablehlo.subtract"(%7, %arg4) : (tensor<f64>, tensor<f64>) -> tensor<f64>
      %9 = "stablehlo.abs"(%8) : (tensor<f64>) -> tensor<f64>
      %10 = "stablehlo.constant"() <{value = dense<9.9999999999999998E-13> : tensor<f64>}> : () -> tensor<f64>
      %11 = "stablehlo.compare"(%9, %10) <{compare_type = #stablehlo<comparison_type FLOAT>, comparison_direction = #stablehlo<comparison_direction GT>}> : (tensor<f64>, tensor<f64>) -> tensor<i1>
      "stablehlo.return"(%11) : (tensor<i1>) -> ()
    }, {
    ^bb0(%arg1: tensor<f64>, %arg2: tensor<f64>, %arg3: tensor<f64>):
      %3 = "stablehlo.divide"(%arg2, %arg3) : (tensor<f64>, tensor<f64>) -> tensor<f64>
      %4 = "stablehlo.add"(%arg3, %3) : (tensor<f64>, tensor<f64>) -> tensor<f64>
      %5 = "stablehlo.constant"() <{value = dense<5.000000e-01> : tensor<f64>}> : () -> tensor<f64>
      %6 = "stablehlo.multiply"(%5, %4) : (tensor<f64>, tensor<f64>) -> tensor<f64>
      "stablehlo.return"(%arg1, %arg2, %6) : (tensor<f64>, tensor<f64>, tensor<f64>) -> ()
    }) : (tensor<f64>, tensor<f64>, tensor<f64>) -> (tensor<f64>, tensor<f64>, tensor<f64>)
    "func.return"(%2#2) : (tensor<f64>) -> ()
  }) : () -> ()
}) {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} : () -> ()

