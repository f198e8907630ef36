"builtin.module"() <{sym_name = "jit_loss"}> ({
  "func.func"() <{arg_attrs = [{}, {}], function_type = (tensor<3xcomplex<f64>>, tensor<3xcomplex<f64>>) -> tensor<f64>, res_attrs = [{jax.result_info = "result"}], sym_name = "main", sym_visibility = "public"}> ({
  ^bb0(%arg3: tensor<3xcomplex<f64>>, %arg4: tensor<3xcomplex<f64>>):
    %4 = "stablehlo.constant"() <{value = dense<0> : tensor<i64>}> : () -> tensor<i64>
    %5 = "stablehlo.constant"() <{value = dense<0> : tensor<i64>}> : () -> tensor<i64>
    %6:4 = "stablehlo.while"(%arg4, %5, %4, %arg3) ({
    ^bb0(%arg13: tensor<3xcomplex<f64>>, %arg14: tensor<i64>, %arg15: tensor<i64>, %arg16: tensor<3xcomplex<f64>>):
      %30 = "stablehlo.constant"() <{value = dense<5> : tensor<i64>}> : () -> tensor<i64>
      %31 = "stablehlo.compare"(%arg14, %30) <{compare_type = #stablehlo<comparison_type SIGNED>, comparison_direction = #stablehlo<comparison_direction LT>}> : (tensor<i64>, tensor<i64>) -> tensor<i1>
      "stablehlo.return"(%31) : (tensor<i1>) -> ()
    }, {
    ^bb0(%arg9: tensor<3xcomplex<f64>>, %arg10: tensor<i64>, %arg11: tensor<i64>, %arg12: tensor<3xcomplex<f64>>):
      %27:2 = "func.call"(%arg9, %arg11, %arg12) <{callee = @closed_call}> : (tensor<3xcomplex<f64>>, tensor<i64>, tensor<3xcomplex<f64>>) -> (tensor<i64>, tensor<3xcomplex<f64>>)
      %28 = "stablehlo.constant"() <{value = dense<1> : tensor<i64>}> : () -> tensor<i64>
      %29 = "stablehlo.add"(%arg10, %28) : (tensor<i64>, tensor<i64>) -> tensor<i64>
      "stablehlo.return"(%arg9, %29, %27#0, %27#1) : (tensor<3xcomplex<f64>>, tensor<i64>, tensor<i64>, tensor<3xcomplex<f64>>) -> ()
    }) : (tensor<3xcomplex<f64>>, tensor<i64>, tensor<i64>, tensor<3xcomplex<f64>>) -> (tensor<3xcomplex<f64>>, tensor<i64>, tensor<i64>, tensor<3xcomplex<f64>>)
    %7 = "stablehlo.real"(%6#3) : (tensor<3xcomplex<f64>>) -> tensor<3xf64>
    %8 = "stablehlo.iota"() <{iota_dimension = 0 : i64}> : () -> tensor<3xf64>
    %9 = "stablehlo.constant"() <{value = dense<1.000000e+00> : tensor<f64>}> : () -> tensor<f64>
    %10 = "stablehlo.broadcast_in_dim"(%9) <{broadcast_dimensions = array<i64>}> : (tensor<f64>) -> tensor<3xf64>
    %11 = "stablehlo.add"(%10, %8) : (tensor<3xf64>, tensor<3xf64>) -> tensor<3xf64>
    %12 = "stablehlo.cosine"(%11) : (tensor<3xf64>) -> tensor<3xf64>
    %13 = "stablehlo.real"(%6#3) : (tensor<3xcomplex<f64>>) -> tensor<3xf64>
    %14 = "stablehlo.multiply"(%12, %13) : (tensor<3xf64>, tensor<3xf64>) -> tensor<3xf64>
    %15 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f64>}> : () -> tensor<f64>
    %16 = "stablehlo.reduce"(%14, %15) <{dimensions = array<i64: 0>}> ({
    ^bb0(%arg7: tensor<f64>, %arg8: tensor<f64>):
      %26 = "stablehlo.add"(%arg7, %arg8) : (tensor<f64>, tensor<f64>) -> tensor<f64>
      "stablehlo.return"(%26) : (tensor<f64>) -> ()
    }) : (tensor<3xf64>, tensor<f64>) -> tensor<f64>
    %17 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f64>}> : () -> tensor<f64>
    %18 = "stablehlo.add"(%17, %16) : (tensor<f64>, tensor<f64>) -> tensor<f64>
    %19 = "stablehlo.sine"(%11) : (tensor<3xf64>) -> tensor<3xf64>
    %20 = "stablehlo.imag"(%6#3) : (tensor<3xcomplex<f64>>) -> tensor<3xf64>
    %21 = "stablehlo.multiply"(%19, %20) : (tensor<3xf64>, tensor<3xf64>) -> tensor<3xf64>
    %22 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f64>}> : () -> tensor<f64>
    %23 = "stablehlo.reduce"(%21, %22) <{dimensions = array<i64: 0>}> ({
    ^bb0(%arg5: tensor<f64>, %arg6: tensor<f64>):
      %25 = "stablehlo.add"(%arg5, %arg6) : (tensor<f64>, tensor<f64>) -> tensor<f64>
      "stablehlo.return"(%25) : (tensor<f64>) -> ()
    }) : (tensor<3xf64>, tensor<f64>) -> tensor<f64>
    %24 = "stablehlo.add"(%18, %23) : (tensor<f64>, tensor<f64>) -> tensor<f64>
    "func.return"(%24) : (tensor<f64>) -> ()
  }) : () -> ()
  "func.func"() <{function_type = (tensor<3xcomplex<f64>>, tensor<i64>, tensor<3xcomplex<f64>>) -> (tensor<i64>, tensor<3xcomplex<f64>>), res_attrs = [{}, {}], sym_name = "closed_call", sym_visibility = "private"}> ({
  ^bb0(%arg0: tensor<3xcomplex<f64>>, %arg1: tensor<i64>, %arg2: tensor<3xcomplex<f64>>):
    %0 = "stablehlo.constant"() <{value = dense<1> : tensor<i64>}> : () -> tensor<i64>
    %1 = "stablehlo.add"(%arg1, %0) : (tensor<i64>, tensor<i64>) -> tensor<i64>
    %2 = "stablehlo.multiply"(%arg2, %arg2) : (tensor<3xcomplex<f64>>, tensor<3xcomplex<f64>>) -> tensor<3xcomplex<f64>>
    %3 = "stablehlo.add"(%2, %arg0) : (tensor<3xcomplex<f64>>, tensor<3xcomplex<f64>>) -> tensor<3xcomplex<f64>>
    "func.return"(%1, %3) : (tensor<i64>, tensor<3xcomplex<f64>>) -> ()
  }) : () -> ()
}) {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} : () -> ()
