"builtin.module"() <{sym_name = "jit_loss"}> ({
  "func.func"() <{arg_attrs = [{}], function_type = (tensor<3xf64>) -> tensor<f64>, res_attrs = [{jax.result_info = "result"}], sym_name = "main", sym_visibility = "public"}> ({
  ^bb0(%arg0: tensor<3xf64>):
    %0 = "stablehlo.constant"() <{value = dense<0> : tensor<i64>}> : () -> tensor<i64>
    %1:3 = "stablehlo.while"(%arg0, %0, %arg0) ({
    ^bb0(%arg8: tensor<3xf64>, %arg9: tensor<i64>, %arg10: tensor<3xf64>):
      %29 = "stablehlo.constant"() <{value = dense<7> : tensor<i64>}> : () -> tensor<i64>
      %30 = "stablehlo.compare"(%arg9, %29) <{compare_type = #stablehlo<comparison_type SIGNED>, comparison_direction = #stablehlo<comparison_direction LT>}> : (tensor<i64>, tensor<i64>) -> tensor<i1>
      "stablehlo.return"(%30) : (tensor<i1>) -> ()
    }, {
    ^bb0(%arg3: tensor<3xf64>, %arg4: tensor<i64>, %arg5: tensor<3xf64>):
      %13 = "stablehlo.constant"() <{value = dense<1> : tensor<i64>}> : () -> tensor<i64>
      %14 = "stablehlo.add"(%arg4, %13) : (tensor<i64>, tensor<i64>) -> tensor<i64>
      %15 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f64>}> : () -> tensor<f64>
      %16 = "stablehlo.reduce"(%arg5, %15) <{dimensions = array<i64: 0>}> ({
      ^bb0(%arg6: tensor<f64>, %arg7: tensor<f64>):
        %28 = "stablehlo.add"(%arg6, %arg7) : (tensor<f64>, tensor<f64>) -> tensor<f64>
        "stablehlo.return"(%28) : (tensor<f64>) -> ()
      }) : (tensor<3xf64>, tensor<f64>) -> tensor<f64>
      %17 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f64>}> : () -> tensor<f64>
      %18 = "stablehlo.compare"(%16, %17) <{compare_type = #stablehlo<comparison_type FLOAT>, comparison_direction = #stablehlo<comparison_direction GT>}> : (tensor<f64>, tensor<f64>) -> tensor<i1>
      %19 = "stablehlo.convert"(%18) : (tensor<i1>) -> tensor<i32>
      %20 = "stablehlo.case"(%19) ({
        %25 = "stablehlo.tanh"(%arg5) : (tensor<3xf64>) -> tensor<3xf64>
        %26 = "stablehlo.multiply"(%arg3, %arg3) : (tensor<3xf64>, tensor<3xf64>) -> tensor<3xf64>
        %27 = "stablehlo.add"(%25, %26) : (tensor<3xf64>, tensor<3xf64>) -> tensor<3xf64>
        "stablehlo.return"(%27) : (tensor<3xf64>) -> ()
      }, {
        %21 = "stablehlo.constant"() <{value = dense<0.69999999999999996> : tensor<f64>}> : () -> tensor<f64>
        %22 = "stablehlo.broadcast_in_dim"(%21) <{broadcast_dimensions = array<i64>}> : (tensor<f64>) -> tensor<3xf64>
        %23 = "stablehlo.multiply"(%arg5, %22) : (tensor<3xf64>, tensor<3xf64>) -> tensor<3xf64>
        %24 = "stablehlo.subtract"(%23, %arg3) : (tensor<3xf64>, tensor<3xf64>) -> tensor<3xf64>
        "stablehlo.return"(%24) : (tensor<3xf64>) -> ()
      }) : (tensor<i32>) -> tensor<3xf64>
      "stablehlo.return"(%arg3, %14, %20) : (tensor<3xf64>, tensor<i64>, tensor<3xf64>) -> ()
    }) : (tensor<3xf64>, tensor<i64>, tensor<3xf64>) -> (tensor<3xf64>, tensor<i64>, tensor<3xf64>)
    %2 = "stablehlo.iota"() <{iota_dimension = 0 : i64}> : () -> tensor<3xf64>
    %3 = "stablehlo.constant"() <{value = dense<1.000000e+00> : tensor<f64>}> : () -> tensor<f64>
    %4 = "stablehlo.broadcast_in_dim"(%3) <{broadcast_dimensions = array<i64>}> : (tensor<f64>) -> tensor<3xf64>
    %5 = "stablehlo.add"(%4, %2) : (tensor<3xf64>, tensor<3xf64>) -> tensor<3xf64>
    %6 = "stablehlo.cosine"(%5) : (tensor<3xf64>) -> tensor<3xf64>
    %7 = "stablehlo.multiply"(%6, %1#2) : (tensor<3xf64>, tensor<3xf64>) -> tensor<3xf64>
    %8 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f64>}> : () -> tensor<f64>
    %9 = "stablehlo.reduce"(%7, %8) <{dimensions = array<i64: 0>}> ({
    ^bb0(%arg1: tensor<f64>, %arg2: tensor<f64>):
      %12 = "stablehlo.add"(%arg1, %arg2) : (tensor<f64>, tensor<f64>) -> tensor<f64>
      "stablehlo.return"(%12) : (tensor<f64>) -> ()
    }) : (tensor<3xf64>, tensor<f64>) -> tensor<f64>
    %10 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f64>}> : () -> tensor<f64>
    %11 = "stablehlo.add"(%10, %9) : (tensor<f64>, tensor<f64>) -> tensor<f64>
    "func.return"(%11) : (tensor<f64>) -> ()
  }) : () -> ()
}) {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} : () -> ()
