"builtin.module"() <{sym_name = "jit_loss"}> ({
  "func.func"() <{arg_attrs = [{}, {}, {}], function_type = (tensor<4x3xf64>, tensor<3x5xf64>, tensor<5x2xf64>) -> tensor<f64>, res_attrs = [{jax.result_info = "result"}], sym_name = "main", sym_visibility = "public"}> ({
  ^bb0(%arg0: tensor<4x3xf64>, %arg1: tensor<3x5xf64>, %arg2: tensor<5x2xf64>):
    %0 = "stablehlo.dot_general"(%arg0, %arg1) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]}> : (tensor<4x3xf64>, tensor<3x5xf64>) -> tensor<4x5xf64>
    %1 = "stablehlo.multiply"(%0, %0) : (tensor<4x5xf64>, tensor<4x5xf64>) -> tensor<4x5xf64>
    %2 = "stablehlo.multiply"(%1, %0) : (tensor<4x5xf64>, tensor<4x5xf64>) -> tensor<4x5xf64>
    %3 = "stablehlo.constant"() <{value = dense<4.471500e-02> : tensor<f64>}> : () -> tensor<f64>
    %4 = "stablehlo.broadcast_in_dim"(%3) <{broadcast_dimensions = array<i64>}> : (tensor<f64>) -> tensor<4x5xf64>
    %5 = "stablehlo.multiply"(%4, %2) : (tensor<4x5xf64>, tensor<4x5xf64>) -> tensor<4x5xf64>
    %6 = "stablehlo.add"(%0, %5) : (tensor<4x5xf64>, tensor<4x5xf64>) -> tensor<4x5xf64>
    %7 = "stablehlo.constant"() <{value = dense<0.79788456080286541> : tensor<f64>}> : () -> tensor<f64>
    %8 = "stablehlo.broadcast_in_dim"(%7) <{broadcast_dimensions = array<i64>}> : (tensor<f64>) -> tensor<4x5xf64>
    %9 = "stablehlo.multiply"(%8, %6) : (tensor<4x5xf64>, tensor<4x5xf64>) -> tensor<4x5xf64>
    %10 = "stablehlo.tanh"(%9) : (tensor<4x5xf64>) -> tensor<4x5xf64>
    %11 = "stablehlo.constant"() <{value = dense<1.000000e+00> : tensor<f64>}> : () -> tensor<f64>
    %12 = "stablehlo.broadcast_in_dim"(%11) <{broadcast_dimensions = array<i64>}> : (tensor<f64>) -> tensor<4x5xf64>
    %13 = "stablehlo.add"(%12, %10) : (tensor<4x5xf64>, tensor<4x5xf64>) -> tensor<4x5xf64>
    %14 = "stablehlo.constant"() <{value = dense<5.000000e-01> : tensor<f64>}> : () -> tensor<f64>
    %15 = "stablehlo.broadcast_in_dim"(%14) <{broadcast_dimensions = array<i64>}> : (tensor<f64>) -> tensor<4x5xf64>
    %16 = "stablehlo.multiply"(%15, %13) : (tensor<4x5xf64>, tensor<4x5xf64>) -> tensor<4x5xf64>
    %17 = "stablehlo.multiply"(%0, %16) : (tensor<4x5xf64>, tensor<4x5xf64>) -> tensor<4x5xf64>
    %18 = "stablehlo.dot_general"(%17, %arg2) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]}> : (tensor<4x5xf64>, tensor<5x2xf64>) -> tensor<4x2xf64>
    %19 = "stablehlo.constant"() <{value = dense<1.000000e+00> : tensor<f64>}> : () -> tensor<f64>
    %20 = "stablehlo.broadcast_in_dim"(%19) <{broadcast_dimensions = array<i64>}> : (tensor<f64>) -> tensor<4x2xf64>
    %21 = "stablehlo.subtract"(%18, %20) : (tensor<4x2xf64>, tensor<4x2xf64>) -> tensor<4x2xf64>
    %22 = "stablehlo.multiply"(%21, %21) : (tensor<4x2xf64>, tensor<4x2xf64>) -> tensor<4x2xf64>
    %23 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f64>}> : () -> tensor<f64>
    %24 = "stablehlo.reduce"(%22, %23) <{dimensions = array<i64: 0, 1>}> ({
    ^bb0(%arg5: tensor<f64>, %arg6: tensor<f64>):
      %39 = "stablehlo.add"(%arg5, %arg6) : (tensor<f64>, tensor<f64>) -> tensor<f64>
      "stablehlo.return"(%39) : (tensor<f64>) -> ()
    }) : (tensor<4x2xf64>, tensor<f64>) -> tensor<f64>
    %25 = "stablehlo.constant"() <{value = dense<8.000000e+00> : tensor<f64>}> : () -> tensor<f64>
    %26 = "stablehlo.divide"(%24, %25) : (tensor<f64>, tensor<f64>) -> tensor<f64>
    %27 = "stablehlo.iota"() <{iota_dimension = 0 : i64}> : () -> tensor<1xf64>
    %28 = "stablehlo.constant"() <{value = dense<1.000000e+00> : tensor<f64>}> : () -> tensor<f64>
    %29 = "stablehlo.broadcast_in_dim"(%28) <{broadcast_dimensions = array<i64>}> : (tensor<f64>) -> tensor<1xf64>
    %30 = "stablehlo.add"(%29, %27) : (tensor<1xf64>, tensor<1xf64>) -> tensor<1xf64>
    %31 = "stablehlo.cosine"(%30) : (tensor<1xf64>) -> tensor<1xf64>
    %32 = "stablehlo.reshape"(%31) : (tensor<1xf64>) -> tensor<f64>
    %33 = "stablehlo.multiply"(%32, %26) : (tensor<f64>, tensor<f64>) -> tensor<f64>
    %34 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f64>}> : () -> tensor<f64>
    %35 = "stablehlo.reduce"(%33, %34) <{dimensions = array<i64>}> ({
    ^bb0(%arg3: tensor<f64>, %arg4: tensor<f64>):
      %38 = "stablehlo.add"(%arg3, %arg4) : (tensor<f64>, tensor<f64>) -> tensor<f64>
      "stablehlo.return"(%38) : (tensor<f64>) -> ()
    }) : (tensor<f64>, tensor<f64>) -> tensor<f64>
    %36 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f64>}> : () -> tensor<f64>
    %37 = "stablehlo.add"(%36, %35) : (tensor<f64>, tensor<f64>) -> tensor<f64>
    "func.return"(%37) : (tensor<f64>) -> ()
  }) : () -> ()
}) {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} : () -> ()
