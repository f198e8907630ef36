"builtin.module"() <{sym_name = "jit_loss"}> ({
  "func.func"() <{arg_attrs = [{}], function_type = (tensor<3xf64>) -> tensor<f64>, res_attrs = [{jax.result_info = "result"}], sym_name = "main", sym_visibility = "public"}> ({
  ^bb0(%arg0: tensor<3xf64>):
    %0 = "stablehlo.constant"() <{value = dense<1.000000e+00> : tensor<f64>}> : () -> tensor<f64>
    %1 = "stablehlo.broadcast_in_dim"(%0) <{broadcast_dimensions = array<i64>}> : (tensor<f64>) -> tensor<3xf64>
    %2 = "stablehlo.add"(%arg0, %1) : (tensor<3xf64>, tensor<3xf64>) -> tensor<3xf64>
    %3:3 = "stablehlo.while"(%arg0, %arg0, %2) ({
    ^bb0(%arg6: tensor<3xf64>, %arg7: tensor<3xf64>, %arg8: tensor<3xf64>):
      %28 = "stablehlo.multiply"(%arg8, %arg8) : (tensor<3xf64>, tensor<3xf64>) -> tensor<3xf64>
      %29 = "stablehlo.subtract"(%28, %arg6) : (tensor<3xf64>, tensor<3xf64>) -> tensor<3xf64>
      %30 = "stablehlo.abs"(%29) : (tensor<3xf64>) -> tensor<3xf64>
      %31 = "stablehlo.constant"() <{value = dense<9.9999999999999998E-13> : tensor<f64>}> : () -> tensor<f64>
      %32 = "stablehlo.broadcast_in_dim"(%31) <{broadcast_dimensions = array<i64>}> : (tensor<f64>) -> tensor<3xf64>
      %33 = "stablehlo.compare"(%30, %32) <{compare_type = #stablehlo<comparison_type FLOAT>, comparison_direction = #stablehlo<comparison_direction GT>}> : (tensor<3xf64>, tensor<3xf64>) -> tensor<3xi1>
      %34 = "stablehlo.constant"() <{value = dense<false> : tensor<i1>}> : () -> tensor<i1>
      %35 = "stablehlo.reduce"(%33, %34) <{dimensions = array<i64: 0>}> ({
      ^bb0(%arg9: tensor<i1>, %arg10: tensor<i1>):
        %36 = "stablehlo.or"(%arg9, %arg10) : (tensor<i1>, tensor<i1>) -> tensor<i1>
        "stablehlo.return"(%36) : (tensor<i1>) -> ()
      }) : (tensor<3xi1>, tensor<i1>) -> tensor<i1>
      "stablehlo.return"(%35) : (tensor<i1>) -> ()
    }, {
    ^bb0(%arg3: tensor<3xf64>, %arg4: tensor<3xf64>, %arg5: tensor<3xf64>):
      %15 = "stablehlo.divide"(%arg4, %arg5) : (tensor<3xf64>, tensor<3xf64>) -> tensor<3xf64>
      %16 = "stablehlo.add"(%arg5, %15) : (tensor<3xf64>, tensor<3xf64>) -> tensor<3xf64>
      %17 = "stablehlo.constant"() <{value = dense<5.000000e-01> : tensor<f64>}> : () -> tensor<f64>
      %18 = "stablehlo.broadcast_in_dim"(%17) <{broadcast_dimensions = array<i64>}> : (tensor<f64>) -> tensor<3xf64>
      %19 = "stablehlo.multiply"(%18, %16) : (tensor<3xf64>, tensor<3xf64>) -> tensor<3xf64>
      %20 = "stablehlo.multiply"(%arg5, %arg5) : (tensor<3xf64>, tensor<3xf64>) -> tensor<3xf64>
      %21 = "stablehlo.subtract"(%20, %arg3) : (tensor<3xf64>, tensor<3xf64>) -> tensor<3xf64>
      %22 = "stablehlo.abs"(%21) : (tensor<3xf64>) -> tensor<3xf64>
      %23 = "stablehlo.constant"() <{value = dense<9.9999999999999998E-13> : tensor<f64>}> : () -> tensor<f64>
      %24 = "stablehlo.broadcast_in_dim"(%23) <{broadcast_dimensions = array<i64>}> : (tensor<f64>) -> tensor<3xf64>
      %25 = "stablehlo.compare"(%22, %24) <{compare_type = #stablehlo<comparison_type FLOAT>, comparison_direction = #stablehlo<comparison_direction GT>}> : (tensor<3xf64>, tensor<3xf64>) -> tensor<3xi1>
      %26 = "stablehlo.broadcast_in_dim"(%25) <{broadcast_dimensions = array<i64: 0>}> : (tensor<3xi1>) -> tensor<3xi1>
      %27 = "stablehlo.select"(%26, %19, %arg5) : (tensor<3xi1>, tensor<3xf64>, tensor<3xf64>) -> tensor<3xf64>
      "stablehlo.return"(%arg3, %arg4, %27) : (tensor<3xf64>, tensor<3xf64>, tensor<3xf64>) -> ()
    }) : (tensor<3xf64>, tensor<3xf64>, tensor<3xf64>) -> (tensor<3xf64>, tensor<3xf64>, tensor<3xf64>)
    %4 = "stablehlo.iota"() <{iota_dimension = 0 : i64}> : () -> tensor<3xf64>
    %5 = "stablehlo.constant"() <{value = dense<1.000000e+00> : tensor<f64>}> : () -> tensor<f64>
    %6 = "stablehlo.broadcast_in_dim"(%5) <{broadcast_dimensions = array<i64>}> : (tensor<f64>) -> tensor<3xf64>
    %7 = "stablehlo.add"(%6, %4) : (tensor<3xf64>, tensor<3xf64>) -> tensor<3xf64>
    %8 = "stablehlo.cosine"(%7) : (tensor<3xf64>) -> tensor<3xf64>
    %9 = "stablehlo.multiply"(%8, %3#2) : (tensor<3xf64>, tensor<3xf64>) -> tensor<3xf64>
    %10 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f64>}> : () -> tensor<f64>
    %11 = "stablehlo.reduce"(%9, %10) <{dimensions = array<i64: 0>}> ({
    ^bb0(%arg1: tensor<f64>, %arg2: tensor<f64>):
      %14 = "stablehlo.add"(%arg1, %arg2) : (tensor<f64>, tensor<f64>) -> tensor<f64>
      "stablehlo.return"(%14) : (tensor<f64>) -> ()
    }) : (tensor<3xf64>, tensor<f64>) -> tensor<f64>
    %12 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f64>}> : () -> tensor<f64>
    %13 = "stablehlo.add"(%12, %11) : (tensor<f64>, tensor<f64>) -> tensor<f64>
    "func.return"(%13) : (tensor<f64>) -> ()
  }) : () -> ()
}) {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} : () -> ()
