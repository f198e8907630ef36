"builtin.module"() <{sym_name = "jit_loss"}> ({
  "func.func"() <{arg_attrs = [{}, {}], function_type = (tensor<2xf64>, tensor<i64>) -> tensor<f64>, res_attrs = [{jax.result_info = "result"}], sym_name = "main", sym_visibility = "public"}> ({
  ^bb0(%arg0: tensor<2xf64>, %arg1: tensor<i64>):
    %0 = "stablehlo.constant"() <{value = dense<0> : tensor<i64>}> : () -> tensor<i64>
    %1:4 = "stablehlo.while"(%arg0, %0, %arg1, %arg0) ({
    ^bb0(%arg16: tensor<2xf64>, %arg17: tensor<i64>, %arg18: tensor<i64>, %arg19: tensor<2xf64>):
      %28 = "stablehlo.compare"(%arg17, %arg18) <{compare_type = #stablehlo<comparison_type SIGNED>, comparison_direction = #stablehlo<comparison_direction LT>}> : (tensor<i64>, tensor<i64>) -> tensor<i1>
      "stablehlo.return"(%28) : (tensor<i1>) -> ()
    }, {
    ^bb0(%arg4: tensor<2xf64>, %arg5: tensor<i64>, %arg6: tensor<i64>, %arg7: tensor<2xf64>):
      %13 = "stablehlo.constant"() <{value = dense<1> : tensor<i64>}> : () -> tensor<i64>
      %14 = "stablehlo.add"(%arg5, %13) : (tensor<i64>, tensor<i64>) -> tensor<i64>
      %15 = "stablehlo.constant"() <{value = dense<0> : tensor<i64>}> : () -> tensor<i64>
      %16:4 = "stablehlo.while"(%arg4, %15, %arg5, %arg7) ({
      ^bb0(%arg12: tensor<2xf64>, %arg13: tensor<i64>, %arg14: tensor<i64>, %arg15: tensor<2xf64>):
        %27 = "stablehlo.compare"(%arg13, %arg14) <{compare_type = #stablehlo<comparison_type SIGNED>, comparison_direction = #stablehlo<comparison_direction LT>}> : (tensor<i64>, tensor<i64>) -> tensor<i1>
        "stablehlo.return"(%27) : (tensor<i1>) -> ()
      }, {
      ^bb0(%arg8: tensor<2xf64>, %arg9: tensor<i64>, %arg10: tensor<i64>, %arg11: tensor<2xf64>):
        %17 = "stablehlo.constant"() <{value = dense<1> : tensor<i64>}> : () -> tensor<i64>
        %18 = "stablehlo.add"(%arg9, %17) : (tensor<i64>, tensor<i64>) -> tensor<i64>
        %19 = "stablehlo.sine"(%arg11) : (tensor<2xf64>) -> tensor<2xf64>
        %20 = "stablehlo.multiply"(%19, %arg8) : (tensor<2xf64>, tensor<2xf64>) -> tensor<2xf64>
        %21 = "stablehlo.convert"(%arg9) : (tensor<i64>) -> tensor<f64>
        %22 = "stablehlo.constant"() <{value = dense<1.000000e-01> : tensor<f64>}> : () -> tensor<f64>
        %23 = "stablehlo.multiply"(%21, %22) : (tensor<f64>, tensor<f64>) -> tensor<f64>
        %24 = "stablehlo.convert"(%23) : (tensor<f64>) -> tensor<f64>
        %25 = "stablehlo.broadcast_in_dim"(%24) <{broadcast_dimensions = array<i64>}> : (tensor<f64>) -> tensor<2xf64>
        %26 = "stablehlo.add"(%20, %25) : (tensor<2xf64>, tensor<2xf64>) -> tensor<2xf64>
        "stablehlo.return"(%arg8, %18, %arg10, %26) : (tensor<2xf64>, tensor<i64>, tensor<i64>, tensor<2xf64>) -> ()
      }) : (tensor<2xf64>, tensor<i64>, tensor<i64>, tensor<2xf64>) -> (tensor<2xf64>, tensor<i64>, tensor<i64>, tensor<2xf64>)
      "stablehlo.return"(%arg4, %14, %arg6, %16#3) : (tensor<2xf64>, tensor<i64>, tensor<i64>, tensor<2xf64>) -> ()
    }) : (tensor<2xf64>, tensor<i64>, tensor<i64>, tensor<2xf64>) -> (tensor<2xf64>, tensor<i64>, tensor<i64>, tensor<2xf64>)
    %2 = "stablehlo.iota"() <{iota_dimension = 0 : i64}> : () -> tensor<2xf64>
    %3 = "stablehlo.constant"() <{value = dense<1.000000e+00> : tensor<f64>}> : () -> tensor<f64>
    %4 = "stablehlo.broadcast_in_dim"(%3) <{broadcast_dimensions = array<i64>}> : (tensor<f64>) -> tensor<2xf64>
    %5 = "stablehlo.add"(%4, %2) : (tensor<2xf64>, tensor<2xf64>) -> tensor<2xf64>
    %6 = "stablehlo.cosine"(%5) : (tensor<2xf64>) -> tensor<2xf64>
    %7 = "stablehlo.multiply"(%6, %1#3) : (tensor<2xf64>, tensor<2xf64>) -> tensor<2xf64>
    %8 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f64>}> : () -> tensor<f64>
    %9 = "stablehlo.reduce"(%7, %8) <{dimensions = array<i64: 0>}> ({
    ^bb0(%arg2: tensor<f64>, %arg3: tensor<f64>):
      %12 = "stablehlo.add"(%arg2, %arg3) : (tensor<f64>, tensor<f64>) -> tensor<f64>
      "stablehlo.return"(%12) : (tensor<f64>) -> ()
    }) : (tensor<2xf64>, tensor<f64>) -> tensor<f64>
    %10 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f64>}> : () -> tensor<f64>
    %11 = "stablehlo.add"(%10, %9) : (tensor<f64>, tensor<f64>) -> tensor<f64>
    "func.return"(%11) : (tensor<f64>) -> ()
  }) : () -> ()
}) {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} : () -> ()
