"builtin.module"() <{sym_name = "jit_loss"}> ({
  "func.func"() <{arg_attrs = [{}, {}], function_type = (tensor<6x3xf64>, tensor<3x3xf64>) -> tensor<f64>, res_attrs = [{jax.result_info = "result"}], sym_name = "main", sym_visibility = "public"}> ({
  ^bb0(%arg8: tensor<6x3xf64>, %arg9: tensor<3x3xf64>):
    %9 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f64>}> : () -> tensor<f64>
    %10 = "stablehlo.broadcast_in_dim"(%9) <{broadcast_dimensions = array<i64>}> : (tensor<f64>) -> tensor<3xf64>
    %11 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f64>}> : () -> tensor<f64>
    %12 = "stablehlo.broadcast_in_dim"(%11) <{broadcast_dimensions = array<i64>}> : (tensor<f64>) -> tensor<6x3xf64>
    %13 = "stablehlo.constant"() <{value = dense<0> : tensor<i64>}> : () -> tensor<i64>
    %14:5 = "stablehlo.while"(%arg8, %arg9, %13, %10, %12) ({
    ^bb0(%arg19: tensor<6x3xf64>, %arg20: tensor<3x3xf64>, %arg21: tensor<i64>, %arg22: tensor<3xf64>, %arg23: tensor<6x3xf64>):
      %42 = "stablehlo.constant"() <{value = dense<6> : tensor<i64>}> : () -> tensor<i64>
      %43 = "stablehlo.compare"(%arg21, %42) <{compare_type = #stablehlo<comparison_type SIGNED>, comparison_direction = #stablehlo<comparison_direction LT>}> : (tensor<i64>, tensor<i64>) -> tensor<i1>
      "stablehlo.return"(%43) : (tensor<i1>) -> ()
    }, {
    ^bb0(%arg14: tensor<6x3xf64>, %arg15: tensor<3x3xf64>, %arg16: tensor<i64>, %arg17: tensor<3xf64>, %arg18: tensor<6x3xf64>):
      %37 = "func.call"(%arg14, %arg16) <{callee = @dynamic_index_in_dim}> : (tensor<6x3xf64>, tensor<i64>) -> tensor<3xf64>
      %38:2 = "func.call"(%arg15, %arg17, %37) <{callee = @closed_call}> : (tensor<3x3xf64>, tensor<3xf64>, tensor<3xf64>) -> (tensor<3xf64>, tensor<3xf64>)
      %39 = "func.call"(%arg18, %38#1, %arg16) <{callee = @dynamic_update_index_in_dim}> : (tensor<6x3xf64>, tensor<3xf64>, tensor<i64>) -> tensor<6x3xf64>
      %40 = "stablehlo.constant"() <{value = dense<1> : tensor<i64>}> : () -> tensor<i64>
      %41 = "stablehlo.add"(%arg16, %40) : (tensor<i64>, tensor<i64>) -> tensor<i64>
      "stablehlo.return"(%arg14, %arg15, %41, %38#0, %39) : (tensor<6x3xf64>, tensor<3x3xf64>, tensor<i64>, tensor<3xf64>, tensor<6x3xf64>) -> ()
    }) : (tensor<6x3xf64>, tensor<3x3xf64>, tensor<i64>, tensor<3xf64>, tensor<6x3xf64>) -> (tensor<6x3xf64>, tensor<3x3xf64>, tensor<i64>, tensor<3xf64>, tensor<6x3xf64>)
    %15 = "stablehlo.iota"() <{iota_dimension = 0 : i64}> : () -> tensor<3xf64>
    %16 = "stablehlo.constant"() <{value = dense<1.000000e+00> : tensor<f64>}> : () -> tensor<f64>
    %17 = "stablehlo.broadcast_in_dim"(%16) <{broadcast_dimensions = array<i64>}> : (tensor<f64>) -> tensor<3xf64>
    %18 = "stablehlo.add"(%17, %15) : (tensor<3xf64>, tensor<3xf64>) -> tensor<3xf64>
    %19 = "stablehlo.cosine"(%18) : (tensor<3xf64>) -> tensor<3xf64>
    %20 = "stablehlo.multiply"(%19, %14#3) : (tensor<3xf64>, tensor<3xf64>) -> tensor<3xf64>
    %21 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f64>}> : () -> tensor<f64>
    %22 = "stablehlo.reduce"(%20, %21) <{dimensions = array<i64: 0>}> ({
    ^bb0(%arg12: tensor<f64>, %arg13: tensor<f64>):
      %36 = "stablehlo.add"(%arg12, %arg13) : (tensor<f64>, tensor<f64>) -> tensor<f64>
      "stablehlo.return"(%36) : (tensor<f64>) -> ()
    }) : (tensor<3xf64>, tensor<f64>) -> tensor<f64>
    %23 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f64>}> : () -> tensor<f64>
    %24 = "stablehlo.add"(%23, %22) : (tensor<f64>, tensor<f64>) -> tensor<f64>
    %25 = "stablehlo.iota"() <{iota_dimension = 0 : i64}> : () -> tensor<18xf64>
    %26 = "stablehlo.constant"() <{value = dense<2.000000e+00> : tensor<f64>}> : () -> tensor<f64>
    %27 = "stablehlo.broadcast_in_dim"(%26) <{broadcast_dimensions = array<i64>}> : (tensor<f64>) -> tensor<18xf64>
    %28 = "stablehlo.add"(%27, %25) : (tensor<18xf64>, tensor<18xf64>) -> tensor<18xf64>
    %29 = "stablehlo.cosine"(%28) : (tensor<18xf64>) -> tensor<18xf64>
    %30 = "stablehlo.reshape"(%29) : (tensor<18xf64>) -> tensor<6x3xf64>
    %31 = "stablehlo.multiply"(%30, %14#4) : (tensor<6x3xf64>, tensor<6x3xf64>) -> tensor<6x3xf64>
    %32 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f64>}> : () -> tensor<f64>
    %33 = "stablehlo.reduce"(%31, %32) <{dimensions = array<i64: 0, 1>}> ({
    ^bb0(%arg10: tensor<f64>, %arg11: tensor<f64>):
      %35 = "stablehlo.add"(%arg10, %arg11) : (tensor<f64>, tensor<f64>) -> tensor<f64>
      "stablehlo.return"(%35) : (tensor<f64>) -> ()
    }) : (tensor<6x3xf64>, tensor<f64>) -> tensor<f64>
    %34 = "stablehlo.add"(%24, %33) : (tensor<f64>, tensor<f64>) -> tensor<f64>
    "func.return"(%34) : (tensor<f64>) -> ()
  }) : () -> ()
  "func.func"() <{arg_attrs = [{}, {}], function_type = (tensor<6x3xf64>, tensor<i64>) -> tensor<3xf64>, res_attrs = [{}], sym_name = "dynamic_index_in_dim", sym_visibility = "private"}> ({
  ^bb0(%arg6: tensor<6x3xf64>, %arg7: tensor<i64>):
    %6 = "stablehlo.constant"() <{value = dense<0> : tensor<i64>}> : () -> tensor<i64>
    %7 = "stablehlo.dynamic_slice"(%arg6, %arg7, %6) <{slice_sizes = array<i64: 1, 3>}> : (tensor<6x3xf64>, tensor<i64>, tensor<i64>) -> tensor<1x3xf64>
    %8 = "stablehlo.reshape"(%7) : (tensor<1x3xf64>) -> tensor<3xf64>
    "func.return"(%8) : (tensor<3xf64>) -> ()
  }) : () -> ()
  "func.func"() <{function_type = (tensor<3x3xf64>, tensor<3xf64>, tensor<3xf64>) -> (tensor<3xf64>, tensor<3xf64>), res_attrs = [{}, {}], sym_name = "closed_call", sym_visibility = "private"}> ({
  ^bb0(%arg3: tensor<3x3xf64>, %arg4: tensor<3xf64>, %arg5: tensor<3xf64>):
    %3 = "stablehlo.dot_general"(%arg3, %arg4) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]}> : (tensor<3x3xf64>, tensor<3xf64>) -> tensor<3xf64>
    %4 = "stablehlo.add"(%3, %arg5) : (tensor<3xf64>, tensor<3xf64>) -> tensor<3xf64>
    %5 = "stablehlo.tanh"(%4) : (tensor<3xf64>) -> tensor<3xf64>
    "func.return"(%5, %5) : (tensor<3xf64>, tensor<3xf64>) -> ()
  }) : () -> ()
  "func.func"() <{arg_attrs = [{}, {}, {}], function_type = (tensor<6x3xf64>, tensor<3xf64>, tensor<i64>) -> tensor<6x3xf64>, res_attrs = [{}], sym_name = "dynamic_update_index_in_dim", sym_visibility = "private"}> ({
  ^bb0(%arg0: tensor<6x3xf64>, %arg1: tensor<3xf64>, %arg2: tensor<i64>):
    %0 = "stablehlo.broadcast_in_dim"(%arg1) <{broadcast_dimensions = array<i64: 1>}> : (tensor<3xf64>) -> tensor<1x3xf64>
    %1 = "stablehlo.constant"() <{value = dense<0> : tensor<i64>}> : () -> tensor<i64>
    %2 = "stablehlo.dynamic_update_slice"(%arg0, %0, %arg2, %1) : (tensor<6x3xf64>, tensor<1x3xf64>, tensor<i64>, tensor<i64>) -> tensor<6x3xf64>
    "func.return"(%2) : (tensor<6x3xf64>) -> ()
  }) : () -> ()
}) {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} : () -> ()
