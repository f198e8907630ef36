"builtin.module"() <{sym_name = "jit_loss"}> ({
  "func.func"() <{arg_attrs = [{}, {}], function_type = (tensor<2xf64>, tensor<f64>) -> tensor<f64>, res_attrs = [{jax.result_info = "result"}], sym_name = "main", sym_visibility = "public"}> ({
  ^bb0(%arg0: tensor<2xf64>, %arg1: tensor<f64>):
    %0 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f64>}> : () -> tensor<f64>
    %1:3 = "stablehlo.while"(%arg1, %0, %arg0) ({
    ^bb0(%arg7: tensor<f64>, %arg8: tensor<f64>, %arg9: tensor<2xf64>):
      %61 = "stablehlo.constant"() <{value = dense<1.000000e+00> : tensor<f64>}> : () -> tensor<f64>
      %62 = "stablehlo.compare"(%arg8, %61) <{compare_type = #stablehlo<comparison_type FLOAT>, comparison_direction = #stablehlo<comparison_direction LT>}> : (tensor<f64>, tensor<f64>) -> tensor<i1>
      "stablehlo.return"(%62) : (tensor<i1>) -> ()
    }, {
    ^bb0(%arg4: tensor<f64>, %arg5: tensor<f64>, %arg6: tensor<2xf64>):
      %13 = "stablehlo.slice"(%arg6) <{limit_indices = array<i64: 2>, start_indices = array<i64: 1>, strides = array<i64: 1>}> : (tensor<2xf64>) -> tensor<1xf64>
      %14 = "stablehlo.reshape"(%13) : (tensor<1xf64>) -> tensor<f64>
      %15 = "stablehlo.slice"(%arg6) <{limit_indices = array<i64: 1>, start_indices = array<i64: 0>, strides = array<i64: 1>}> : (tensor<2xf64>) -> tensor<1xf64>
      %16 = "stablehlo.reshape"(%15) : (tensor<1xf64>) -> tensor<f64>
      %17 = "stablehlo.multiply"(%16, %16) : (tensor<f64>, tensor<f64>) -> tensor<f64>
      %18 = "stablehlo.constant"() <{value = dense<1.000000e+00> : tensor<f64>}> : () -> tensor<f64>
      %19 = "stablehlo.subtract"(%18, %17) : (tensor<f64>, tensor<f64>) -> tensor<f64>
      %20 = "stablehlo.multiply"(%arg4, %19) : (tensor<f64>, tensor<f64>) -> tensor<f64>
      %21 = "stablehlo.slice"(%arg6) <{limit_indices = array<i64: 2>, start_indices = array<i64: 1>, strides = array<i64: 1>}> : (tensor<2xf64>) -> tensor<1xf64>
      %22 = "stablehlo.reshape"(%21) : (tensor<1xf64>) -> tensor<f64>
      %23 = "stablehlo.multiply"(%20, %22) : (tensor<f64>, tensor<f64>) -> tensor<f64>
      %24 = "stablehlo.slice"(%arg6) <{limit_indices = array<i64: 1>, start_indices = array<i64: 0>, strides = array<i64: 1>}> : (tensor<2xf64>) -> tensor<1xf64>
      %25 = "stablehlo.reshape"(%24) : (tensor<1xf64>) -> tensor<f64>
      %26 = "stablehlo.subtract"(%23, %25) : (tensor<f64>, tensor<f64>) -> tensor<f64>
      %27 = "stablehlo.broadcast_in_dim"(%14) <{broadcast_dimensions = array<i64>}> : (tensor<f64>) -> tensor<1xf64>
      %28 = "stablehlo.broadcast_in_dim"(%26) <{broadcast_dimensions = array<i64>}> : (tensor<f64>) -> tensor<1xf64>
      %29 = "stablehlo.concatenate"(%27, %28) <{dimension = 0 : i64}> : (tensor<1xf64>, tensor<1xf64>) -> tensor<2xf64>
      %30 = "stablehlo.constant"() <{value = dense<5.000000e-02> : tensor<f64>}> : () -> tensor<f64>
      %31 = "stablehlo.broadcast_in_dim"(%30) <{broadcast_dimensions = array<i64>}> : (tensor<f64>) -> tensor<2xf64>
      %32 = "stablehlo.multiply"(%31, %29) : (tensor<2xf64>, tensor<2xf64>) -> tensor<2xf64>
      %33 = "stablehlo.add"(%arg6, %32) : (tensor<2xf64>, tensor<2xf64>) -> tensor<2xf64>
      %34 = "stablehlo.slice"(%33) <{limit_indices = array<i64: 2>, start_indices = array<i64: 1>, strides = array<i64: 1>}> : (tensor<2xf64>) -> tensor<1xf64>
      %35 = "stablehlo.reshape"(%34) : (tensor<1xf64>) -> tensor<f64>
      %36 = "stablehlo.slice"(%33) <{limit_indices = array<i64: 1>, start_indices = array<i64: 0>, strides = array<i64: 1>}> : (tensor<2xf64>) -> tensor<1xf64>
      %37 = "stablehlo.reshape"(%36) : (tensor<1xf64>) -> tensor<f64>
      %38 = "stablehlo.multiply"(%37, %37) : (tensor<f64>, tensor<f64>) -> tensor<f64>
      %39 = "stablehlo.constant"() <{value = dense<1.000000e+00> : tensor<f64>}> : () -> tensor<f64>
      %40 = "stablehlo.subtract"(%39, %38) : (tensor<f64>, tensor<f64>) -> tensor<f64>
      %41 = "stablehlo.multiply"(%arg4, %40) : (tensor<f64>, tensor<f64>) -> tensor<f64>
      %42 = "stablehlo.slice"(%33) <{limit_indices = array<i64: 2>, start_indices = array<i64: 1>, strides = array<i64: 1>}> : (tensor<2xf64>) -> tensor<1xf64>
      %43 = "stablehlo.reshape"(%42) : (tensor<1xf64>) -> tensor<f64>
      %44 = "stablehlo.multiply"(%41, %43) : (tensor<f64>, tensor<f64>) -> tensor<f64>
      %45 = "stablehlo.slice"(%33) <{limit_indices = array<i64: 1>, start_indices = array<i64: 0>, strides = array<i64: 1>}> : (tensor<2xf64>) -> tensor<1xf64>
      %46 = "stablehlo.reshape"(%45) : (tensor<1xf64>) -> tensor<f64>
      %47 = "stablehlo.subtract"(%44, %46) : (tensor<f64>, tensor<f64>) -> tensor<f64>
      %48 = "stablehlo.broadcast_in_dim"(%35) <{broadcast_dimensions = array<i64>}> : (tensor<f64>) -> tensor<1xf64>
      %49 = "stablehlo.broadcast_in_dim"(%47) <{broadcast_dimensions = array<i64>}> : (tensor<f64>) -> tensor<1xf64>
      %50 = "stablehlo.concatenate"(%48, %49) <{dimension = 0 : i64}> : (tensor<1xf64>, tensor<1xf64>) -> tensor<2xf64>
      %51 = "stablehlo.constant"() <{value = dense<1.000000e-01> : tensor<f64>}> : () -> tensor<f64>
      %52 = "stablehlo.add"(%arg5, %51) : (tensor<f64>, tensor<f64>) -> tensor<f64>
      %53 = "stablehlo.add"(%29, %50) : (tensor<2xf64>, tensor<2xf64>) -> tensor<2xf64>
      %54 = "stablehlo.constant"() <{value = dense<1.000000e-01> : tensor<f64>}> : () -> tensor<f64>
      %55 = "stablehlo.broadcast_in_dim"(%54) <{broadcast_dimensions = array<i64>}> : (tensor<f64>) -> tensor<2xf64>
      %56 = "stablehlo.multiply"(%55, %53) : (tensor<2xf64>, tensor<2xf64>) -> tensor<2xf64>
      %57 = "stablehlo.constant"() <{value = dense<2.000000e+00> : tensor<f64>}> : () -> tensor<f64>
      %58 = "stablehlo.broadcast_in_dim"(%57) <{broadcast_dimensions = array<i64>}> : (tensor<f64>) -> tensor<2xf64>
      %59 = "stablehlo.divide"(%56, %58) : (tensor<2xf64>, tensor<2xf64>) -> tensor<2xf64>
      %60 = "stablehlo.add"(%arg6, %59) : (tensor<2xf64>, tensor<2xf64>) -> tensor<2xf64>
      "stablehlo.return"(%arg4, %52, %60) : (tensor<f64>, tensor<f64>, tensor<2xf64>) -> ()
    }) : (tensor<f64>, tensor<f64>, tensor<2xf64>) -> (tensor<f64>, tensor<f64>, tensor<2xf64>)
    %2 = "stablehlo.iota"() <{iota_dimension = 0 : i64}> : () -> tensor<2xf64>
    %3 = "stablehlo.constant"() <{value = dense<1.000000e+00> : tensor<f64>}> : () -> tensor<f64>
    %4 = "stablehlo.broadcast_in_dim"(%3) <{broadcast_dimensions = array<i64>}> : (tensor<f64>) -> tensor<2xf64>
    %5 = "stablehlo.add"(%4, %2) : (tensor<2xf64>, tensor<2xf64>) -> tensor<2xf64>
    %6 = "stablehlo.cosine"(%5) : (tensor<2xf64>) -> tensor<2xf64>
    %7 = "stablehlo.multiply"(%6, %1#2) : (tensor<2xf64>, tensor<2xf64>) -> tensor<2xf64>
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
