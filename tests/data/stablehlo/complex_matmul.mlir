"builtin.module"() <{sym_name = "jit_loss"}> ({
  "func.func"() <{arg_attrs = [{}, {}], function_type = (tensor<3x4xcomplex<f64>>, tensor<4x2xcomplex<f64>>) -> tensor<f64>, res_attrs = [{jax.result_info = "result"}], sym_name = "main", sym_visibility = "public"}> ({
  ^bb0(%arg0: tensor<3x4xcomplex<f64>>, %arg1: tensor<4x2xcomplex<f64>>):
    %0 = "stablehlo.dot_general"(%arg0, %arg1) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]}> : (tensor<3x4xcomplex<f64>>, tensor<4x2xcomplex<f64>>) -> tensor<3x2xcomplex<f64>>
    %1 = "stablehlo.real"(%0) : (tensor<3x2xcomplex<f64>>) -> tensor<3x2xf64>
    %2 = "stablehlo.iota"() <{iota_dimension = 0 : i64}> : () -> tensor<6xf64>
    %3 = "stablehlo.constant"() <{value = dense<1.000000e+00> : tensor<f64>}> : () -> tensor<f64>
    %4 = "stablehlo.broadcast_in_dim"(%3) <{broadcast_dimensions = array<i64>}> : (tensor<f64>) -> tensor<6xf64>
    %5 = "stablehlo.add"(%4, %2) : (tensor<6xf64>, tensor<6xf64>) -> tensor<6xf64>
    %6 = "stablehlo.reshape"(%5) : (tensor<6xf64>) -> tensor<3x2xf64>
    %7 = "stablehlo.cosine"(%6) : (tensor<3x2xf64>) -> tensor<3x2xf64>
    %8 = "stablehlo.real"(%0) : (tensor<3x2xcomplex<f64>>) -> tensor<3x2xf64>
    %9 = "stablehlo.multiply"(%7, %8) : (tensor<3x2xf64>, tensor<3x2xf64>) -> tensor<3x2xf64>
    %10 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f64>}> : () -> tensor<f64>
    %11 = "stablehlo.reduce"(%9, %10) <{dimensions = array<i64: 0, 1>}> ({
    ^bb0(%arg4: tensor<f64>, %arg5: tensor<f64>):
      %21 = "stablehlo.add"(%arg4, %arg5) : (tensor<f64>, tensor<f64>) -> tensor<f64>
      "stablehlo.return"(%21) : (tensor<f64>) -> ()
    }) : (tensor<3x2xf64>, tensor<f64>) -> tensor<f64>
    %12 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f64>}> : () -> tensor<f64>
    %13 = "stablehlo.add"(%12, %11) : (tensor<f64>, tensor<f64>) -> tensor<f64>
    %14 = "stablehlo.sine"(%6) : (tensor<3x2xf64>) -> tensor<3x2xf64>
    %15 = "stablehlo.imag"(%0) : (tensor<3x2xcomplex<f64>>) -> tensor<3x2xf64>
    %16 = "stablehlo.multiply"(%14, %15) : (tensor<3x2xf64>, tensor<3x2xf64>) -> tensor<3x2xf64>
    %17 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f64>}> : () -> tensor<f64>
    %18 = "stablehlo.reduce"(%16, %17) <{dimensions = array<i64: 0, 1>}> ({
    ^bb0(%arg2: tensor<f64>, %arg3: tensor<f64>):
      %20 = "stablehlo.add"(%arg2, %arg3) : (tensor<f64>, tensor<f64>) -> tensor<f64>
      "stablehlo.return"(%20) : (tensor<f64>) -> ()
    }) : (tensor<3x2xf64>, tensor<f64>) -> tensor<f64>
    %19 = "stablehlo.add"(%13, %18) : (tensor<f64>, tensor<f64>) -> tensor<f64>
    "func.return"(%19) : (tensor<f64>) -> ()
  }) : () -> ()
}) {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} : () -> ()
