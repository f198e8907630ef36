"builtin.module"() <{sym_name = "jit_loss"}> ({
  "func.func"() <{arg_attrs = [{}], function_type = (tensor<3x6xf64>) -> tensor<f64>, res_attrs = [{jax.result_info = "result"}], sym_name = "main", sym_visibility = "public"}> ({
  ^bb0(%arg9: tensor<3x6xf64>):
    %26 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f64>}> : () -> tensor<f64>
    %27 = "stablehlo.reduce"(%arg9, %26) <{dimensions = array<i64: 1>}> ({
    ^bb0(%arg12: tensor<f64>, %arg13: tensor<f64>):
      %54 = "stablehlo.add"(%arg12, %arg13) : (tensor<f64>, tensor<f64>) -> tensor<f64>
      "stablehlo.return"(%54) : (tensor<f64>) -> ()
    }) : (tensor<3x6xf64>, tensor<f64>) -> tensor<3xf64>
    %28 = "stablehlo.broadcast_in_dim"(%27) <{broadcast_dimensions = array<i64: 0>}> : (tensor<3xf64>) -> tensor<3x1xf64>
    %29 = "stablehlo.constant"() <{value = dense<6.000000e+00> : tensor<f64>}> : () -> tensor<f64>
    %30 = "stablehlo.broadcast_in_dim"(%29) <{broadcast_dimensions = array<i64>}> : (tensor<f64>) -> tensor<3x1xf64>
    %31 = "stablehlo.divide"(%28, %30) : (tensor<3x1xf64>, tensor<3x1xf64>) -> tensor<3x1xf64>
    %32 = "stablehlo.broadcast_in_dim"(%31) <{broadcast_dimensions = array<i64: 0, 1>}> : (tensor<3x1xf64>) -> tensor<3x6xf64>
    %33 = "stablehlo.subtract"(%arg9, %32) : (tensor<3x6xf64>, tensor<3x6xf64>) -> tensor<3x6xf64>
    %34 = "stablehlo.constant"() <{value = dense<0> : tensor<i64>}> : () -> tensor<i64>
    %35 = "func.call"(%arg9, %34) <{callee = @_var}> : (tensor<3x6xf64>, tensor<i64>) -> tensor<3x1xf64>
    %36 = "stablehlo.constant"() <{value = dense<1.000000e-05> : tensor<f64>}> : () -> tensor<f64>
    %37 = "stablehlo.broadcast_in_dim"(%36) <{broadcast_dimensions = array<i64>}> : (tensor<f64>) -> tensor<3x1xf64>
    %38 = "stablehlo.add"(%35, %37) : (tensor<3x1xf64>, tensor<3x1xf64>) -> tensor<3x1xf64>
    %39 = "stablehlo.sqrt"(%38) : (tensor<3x1xf64>) -> tensor<3x1xf64>
    %40 = "stablehlo.broadcast_in_dim"(%39) <{broadcast_dimensions = array<i64: 0, 1>}> : (tensor<3x1xf64>) -> tensor<3x6xf64>
    %41 = "stablehlo.divide"(%33, %40) : (tensor<3x6xf64>, tensor<3x6xf64>) -> tensor<3x6xf64>
    %42 = "stablehlo.iota"() <{iota_dimension = 0 : i64}> : () -> tensor<18xf64>
    %43 = "stablehlo.constant"() <{value = dense<1.000000e+00> : tensor<f64>}> : () -> tensor<f64>
    %44 = "stablehlo.broadcast_in_dim"(%43) <{broadcast_dimensions = array<i64>}> : (tensor<f64>) -> tensor<18xf64>
    %45 = "stablehlo.add"(%44, %42) : (tensor<18xf64>, tensor<18xf64>) -> tensor<18xf64>
    %46 = "stablehlo.cosine"(%45) : (tensor<18xf64>) -> tensor<18xf64>
    %47 = "stablehlo.reshape"(%46) : (tensor<18xf64>) -> tensor<3x6xf64>
    %48 = "stablehlo.multiply"(%47, %41) : (tensor<3x6xf64>, tensor<3x6xf64>) -> tensor<3x6xf64>
    %49 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f64>}> : () -> tensor<f64>
    %50 = "stablehlo.reduce"(%48, %49) <{dimensions = array<i64: 0, 1>}> ({
    ^bb0(%arg10: tensor<f64>, %arg11: tensor<f64>):
      %53 = "stablehlo.add"(%arg10, %arg11) : (tensor<f64>, tensor<f64>) -> tensor<f64>
      "stablehlo.return"(%53) : (tensor<f64>) -> ()
    }) : (tensor<3x6xf64>, tensor<f64>) -> tensor<f64>
    %51 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f64>}> : () -> tensor<f64>
    %52 = "stablehlo.add"(%51, %50) : (tensor<f64>, tensor<f64>) -> tensor<f64>
    "func.return"(%52) : (tensor<f64>) -> ()
  }) : () -> ()
  "func.func"() <{arg_attrs = [{}, {}], function_type = (tensor<3x6xf64>, tensor<i64>) -> tensor<3x1xf64>, res_attrs = [{}], sym_name = "_var", sym_visibility = "private"}> ({
  ^bb0(%arg3: tensor<3x6xf64>, %arg4: tensor<i64>):
    %3 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f64>}> : () -> tensor<f64>
    %4 = "stablehlo.reduce"(%arg3, %3) <{dimensions = array<i64: 1>}> ({
    ^bb0(%arg7: tensor<f64>, %arg8: tensor<f64>):
      %25 = "stablehlo.add"(%arg7, %arg8) : (tensor<f64>, tensor<f64>) -> tensor<f64>
      "stablehlo.return"(%25) : (tensor<f64>) -> ()
    }) : (tensor<3x6xf64>, tensor<f64>) -> tensor<3xf64>
    %5 = "stablehlo.broadcast_in_dim"(%4) <{broadcast_dimensions = array<i64: 0>}> : (tensor<3xf64>) -> tensor<3x1xf64>
    %6 = "stablehlo.constant"() <{value = dense<6.000000e+00> : tensor<f64>}> : () -> tensor<f64>
    %7 = "stablehlo.broadcast_in_dim"(%6) <{broadcast_dimensions = array<i64>}> : (tensor<f64>) -> tensor<3x1xf64>
    %8 = "stablehlo.divide"(%5, %7) : (tensor<3x1xf64>, tensor<3x1xf64>) -> tensor<3x1xf64>
    %9 = "stablehlo.broadcast_in_dim"(%8) <{broadcast_dimensions = array<i64: 0, 1>}> : (tensor<3x1xf64>) -> tensor<3x6xf64>
    %10 = "stablehlo.subtract"(%arg3, %9) : (tensor<3x6xf64>, tensor<3x6xf64>) -> tensor<3x6xf64>
    %11 = "chlo.square"(%10) : (tensor<3x6xf64>) -> tensor<3x6xf64>
    %12 = "stablehlo.convert"(%arg4) : (tensor<i64>) -> tensor<f64>
    %13 = "stablehlo.constant"() <{value = dense<6.000000e+00> : tensor<f64>}> : () -> tensor<f64>
    %14 = "stablehlo.subtract"(%13, %12) : (tensor<f64>, tensor<f64>) -> tensor<f64>
    %15 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f64>}> : () -> tensor<f64>
    %16 = "stablehlo.reduce"(%11, %15) <{dimensions = array<i64: 1>}> ({
    ^bb0(%arg5: tensor<f64>, %arg6: tensor<f64>):
      %24 = "stablehlo.add"(%arg5, %arg6) : (tensor<f64>, tensor<f64>) -> tensor<f64>
      "stablehlo.return"(%24) : (tensor<f64>) -> ()
    }) : (tensor<3x6xf64>, tensor<f64>) -> tensor<3xf64>
    %17 = "stablehlo.broadcast_in_dim"(%16) <{broadcast_dimensions = array<i64: 0>}> : (tensor<3xf64>) -> tensor<3x1xf64>
    %18 = "stablehlo.broadcast_in_dim"(%14) <{broadcast_dimensions = array<i64>}> : (tensor<f64>) -> tensor<3x1xf64>
    %19 = "stablehlo.divide"(%17, %18) : (tensor<3x1xf64>, tensor<3x1xf64>) -> tensor<3x1xf64>
    %20 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f64>}> : () -> tensor<f64>
    %21 = "stablehlo.compare"(%14, %20) <{compare_type = #stablehlo<comparison_type FLOAT>, comparison_direction = #stablehlo<comparison_direction GT>}> : (tensor<f64>, tensor<f64>) -> tensor<i1>
    %22 = "stablehlo.constant"() <{value = dense<0x7FF8000000000000> : tensor<f64>}> : () -> tensor<f64>
    %23 = "func.call"(%21, %19, %22) <{callee = @_where}> : (tensor<i1>, tensor<3x1xf64>, tensor<f64>) -> tensor<3x1xf64>
    "func.return"(%23) : (tensor<3x1xf64>) -> ()
  }) : () -> ()
  "func.func"() <{arg_attrs = [{}, {}, {}], function_type = (tensor<i1>, tensor<3x1xf64>, tensor<f64>) -> tensor<3x1xf64>, res_attrs = [{}], sym_name = "_where", sym_visibility = "private"}> ({
  ^bb0(%arg0: tensor<i1>, %arg1: tensor<3x1xf64>, %arg2: tensor<f64>):
    %0 = "stablehlo.convert"(%arg2) : (tensor<f64>) -> tensor<f64>
    %1 = "stablehlo.broadcast_in_dim"(%0) <{broadcast_dimensions = array<i64>}> : (tensor<f64>) -> tensor<3x1xf64>
    %2 = "stablehlo.select"(%arg0, %arg1, %1) : (tensor<i1>, tensor<3x1xf64>, tensor<3x1xf64>) -> tensor<3x1xf64>
    "func.return"(%2) : (tensor<3x1xf64>) -> ()
  }) : () -> ()
}) {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} : () -> ()
