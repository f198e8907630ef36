"builtin.module"() <{sym_name = "jit_loss"}> ({
  "func.func"() <{arg_attrs = [{}, {}], function_type = (tensor<f64>, tensor<i64>) -> tensor<f64>, res_attrs = [{jax.result_info = "result"}], sym_name = "main", sym_visibility = "public"}> ({
  ^bb0(%arg5: tensor<f64>, %arg6: tensor<i64>):
    %16 = "stablehlo.constant"() <{value = dense<0> : tensor<i64>}> : () -> tensor<i64>
    %17:4 = "stablehlo.while"(%arg5, %16, %arg6, %arg5) ({
    ^bb0(%arg13: tensor<f64>, %arg14: tensor<i64>, %arg15: tensor<i64>, %arg16: tensor<f64>):
      %46 = "stablehlo.compare"(%arg14, %arg15) <{compare_type = #stablehlo<comparison_type SIGNED>, comparison_direction = #stablehlo<comparison_direction LT>}> : (tensor<i64>, tensor<i64>) -> tensor<i1>
      "stablehlo.return"(%46) : (tensor<i1>) -> ()
    }, {
    ^bb0(%arg9: tensor<f64>, %arg10: tensor<i64>, %arg11: tensor<i64>, %arg12: tensor<f64>):
      %30 = "stablehlo.constant"() <{value = dense<1> : tensor<i64>}> : () -> tensor<i64>
      %31 = "stablehlo.add"(%arg10, %30) : (tensor<i64>, tensor<i64>) -> tensor<i64>
      %32 = "stablehlo.constant"() <{value = dense<4> : tensor<i64>}> : () -> tensor<i64>
      %33 = "func.call"(%arg10, %32) <{callee = @remainder}> : (tensor<i64>, tensor<i64>) -> tensor<i64>
      %34 = "stablehlo.convert"(%33) : (tensor<i64>) -> tensor<i32>
      %35 = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
      %36 = "stablehlo.constant"() <{value = dense<3> : tensor<i32>}> : () -> tensor<i32>
      %37 = "stablehlo.clamp"(%35, %34, %36) : (tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<i32>
      %38 = "stablehlo.case"(%37) ({
        %45 = "stablehlo.sine"(%arg12) : (tensor<f64>) -> tensor<f64>
        "stablehlo.return"(%45) : (tensor<f64>) -> ()
      }, {
        %44 = "stablehlo.multiply"(%arg12, %arg9) : (tensor<f64>, tensor<f64>) -> tensor<f64>
        "stablehlo.return"(%44) : (tensor<f64>) -> ()
      }, {
        %42 = "stablehlo.constant"() <{value = dense<3.000000e-01> : tensor<f64>}> : () -> tensor<f64>
        %43 = "stablehlo.subtract"(%arg12, %42) : (tensor<f64>, tensor<f64>) -> tensor<f64>
        "stablehlo.return"(%43) : (tensor<f64>) -> ()
      }, {
        %41 = "stablehlo.exponential"(%arg12) : (tensor<f64>) -> tensor<f64>
        "stablehlo.return"(%41) : (tensor<f64>) -> ()
      }) : (tensor<i32>) -> tensor<f64>
      %39 = "stablehlo.constant"() <{value = dense<5.000000e-01> : tensor<f64>}> : () -> tensor<f64>
      %40 = "stablehlo.multiply"(%38, %39) : (tensor<f64>, tensor<f64>) -> tensor<f64>
      "stablehlo.return"(%arg9, %31, %arg11, %40) : (tensor<f64>, tensor<i64>, tensor<i64>, tensor<f64>) -> ()
    }) : (tensor<f64>, tensor<i64>, tensor<i64>, tensor<f64>) -> (tensor<f64>, tensor<i64>, tensor<i64>, tensor<f64>)
    %18 = "stablehlo.iota"() <{iota_dimension = 0 : i64}> : () -> tensor<1xf64>
    %19 = "stablehlo.constant"() <{value = dense<1.000000e+00> : tensor<f64>}> : () -> tensor<f64>
    %20 = "stablehlo.broadcast_in_dim"(%19) <{broadcast_dimensions = array<i64>}> : (tensor<f64>) -> tensor<1xf64>
    %21 = "stablehlo.add"(%20, %18) : (tensor<1xf64>, tensor<1xf64>) -> tensor<1xf64>
    %22 = "stablehlo.cosine"(%21) : (tensor<1xf64>) -> tensor<1xf64>
    %23 = "stablehlo.reshape"(%22) : (tensor<1xf64>) -> tensor<f64>
    %24 = "stablehlo.multiply"(%23, %17#3) : (tensor<f64>, tensor<f64>) -> tensor<f64>
    %25 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f64>}> : () -> tensor<f64>
    %26 = "stablehlo.reduce"(%24, %25) <{dimensions = array<i64>}> ({
    ^bb0(%arg7: tensor<f64>, %arg8: tensor<f64>):
      %29 = "stablehlo.add"(%arg7, %arg8) : (tensor<f64>, tensor<f64>) -> tensor<f64>
      "stablehlo.return"(%29) : (tensor<f64>) -> ()
    }) : (tensor<f64>, tensor<f64>) -> tensor<f64>
    %27 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f64>}> : () -> tensor<f64>
    %28 = "stablehlo.add"(%27, %26) : (tensor<f64>, tensor<f64>) -> tensor<f64>
    "func.return"(%28) : (tensor<f64>) -> ()
  }) : () -> ()
  "func.func"() <{arg_attrs = [{}, {}], function_type = (tensor<i64>, tensor<i64>) -> tensor<i64>, res_attrs = [{}], sym_name = "remainder", sym_visibility = "private"}> ({
  ^bb0(%arg3: tensor<i64>, %arg4: tensor<i64>):
    %1 = "stablehlo.constant"() <{value = dense<0> : tensor<i64>}> : () -> tensor<i64>
    %2 = "stablehlo.compare"(%arg4, %1) <{compare_type = #stablehlo<comparison_type SIGNED>, comparison_direction = #stablehlo<comparison_direction EQ>}> : (tensor<i64>, tensor<i64>) -> tensor<i1>
    %3 = "stablehlo.constant"() <{value = dense<1> : tensor<i64>}> : () -> tensor<i64>
    %4 = "func.call"(%2, %3, %arg4) <{callee = @_where}> : (tensor<i1>, tensor<i64>, tensor<i64>) -> tensor<i64>
    %5 = "stablehlo.remainder"(%arg3, %4) : (tensor<i64>, tensor<i64>) -> tensor<i64>
    %6 = "stablehlo.constant"() <{value = dense<0> : tensor<i64>}> : () -> tensor<i64>
    %7 = "stablehlo.compare"(%5, %6) <{compare_type = #stablehlo<comparison_type SIGNED>, comparison_direction = #stablehlo<comparison_direction NE>}> : (tensor<i64>, tensor<i64>) -> tensor<i1>
    %8 = "stablehlo.constant"() <{value = dense<0> : tensor<i64>}> : () -> tensor<i64>
    %9 = "stablehlo.compare"(%5, %8) <{compare_type = #stablehlo<comparison_type SIGNED>, comparison_direction = #stablehlo<comparison_direction LT>}> : (tensor<i64>, tensor<i64>) -> tensor<i1>
    %10 = "stablehlo.constant"() <{value = dense<0> : tensor<i64>}> : () -> tensor<i64>
    %11 = "stablehlo.compare"(%4, %10) <{compare_type = #stablehlo<comparison_type SIGNED>, comparison_direction = #stablehlo<comparison_direction LT>}> : (tensor<i64>, tensor<i64>) -> tensor<i1>
    %12 = "stablehlo.compare"(%9, %11) <{compare_type = #stablehlo<comparison_type UNSIGNED>, comparison_direction = #stablehlo<comparison_direction NE>}> : (tensor<i1>, tensor<i1>) -> tensor<i1>
    %13 = "stablehlo.and"(%12, %7) : (tensor<i1>, tensor<i1>) -> tensor<i1>
    %14 = "stablehlo.add"(%5, %4) : (tensor<i64>, tensor<i64>) -> tensor<i64>
    %15 = "stablehlo.select"(%13, %14, %5) : (tensor<i1>, tensor<i64>, tensor<i64>) -> tensor<i64>
    "func.return"(%15) : (tensor<i64>) -> ()
  }) : () -> ()
  "func.func"() <{arg_attrs = [{}, {}, {}], function_type = (tensor<i1>, tensor<i64>, tensor<i64>) -> tensor<i64>, res_attrs = [{}], sym_name = "_where", sym_visibility = "private"}> ({
  ^bb0(%arg0: tensor<i1>, %arg1: tensor<i64>, %arg2: tensor<i64>):
    %0 = "stablehlo.select"(%arg0, %arg1, %arg2) : (tensor<i1>, tensor<i64>, tensor<i64>) -> tensor<i64>
    "func.return"(%0) : (tensor<i64>) -> ()
  }) : () -> ()
}) {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} : () -> ()
