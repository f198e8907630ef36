"builtin.module"() <{sym_name = "jit_loss"}> ({
  "func.func"() <{arg_attrs = [{}, {}], function_type = (tensor<3x3xf64>, tensor<3x3xf64>) -> tensor<f64>, res_attrs = [{jax.result_info = "result"}], sym_name = "main", sym_visibility = "public"}> ({
  ^bb0(%arg8: tensor<3x3xf64>, %arg9: tensor<3x3xf64>):
    %24 = "stablehlo.slice"(%arg9) <{limit_indices = array<i64: 1, 3>, start_indices = array<i64: 0, 0>, strides = array<i64: 1, 1>}> : (tensor<3x3xf64>) -> tensor<1x3xf64>
    %25 = "stablehlo.reshape"(%24) : (tensor<1x3xf64>) -> tensor<3xf64>
    %26 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f64>}> : () -> tensor<f64>
    %27 = "stablehlo.broadcast_in_dim"(%26) <{broadcast_dimensions = array<i64>}> : (tensor<f64>) -> tensor<8xf64>
    %28 = "stablehlo.constant"() <{value = dense<0> : tensor<i64>}> : () -> tensor<i64>
    %29 = "stablehlo.constant"() <{value = dense<false> : tensor<i1>}> : () -> tensor<i1>
    %30:6 = "stablehlo.while"(%arg8, %arg9, %28, %25, %27, %29) ({
    ^bb0(%arg22: tensor<3x3xf64>, %arg23: tensor<3x3xf64>, %arg24: tensor<i64>, %arg25: tensor<3xf64>, %arg26: tensor<8xf64>, %arg27: tensor<i1>):
      %74 = "stablehlo.constant"() <{value = dense<8> : tensor<i64>}> : () -> tensor<i64>
      %75 = "stablehlo.compare"(%arg24, %74) <{compare_type = #stablehlo<comparison_type SIGNED>, comparison_direction = #stablehlo<comparison_direction LT>}> : (tensor<i64>, tensor<i64>) -> tensor<i1>
      %76 = "stablehlo.not"(%arg27) : (tensor<i1>) -> tensor<i1>
      %77 = "stablehlo.constant"() <{value = dense<false> : tensor<i1>}> : () -> tensor<i1>
      %78 = "stablehlo.broadcast_in_dim"(%77) <{broadcast_dimensions = array<i64>}> : (tensor<i1>) -> tensor<i1>
      %79 = "stablehlo.compare"(%75, %78) <{compare_type = #stablehlo<comparison_type UNSIGNED>, comparison_direction = #stablehlo<comparison_direction NE>}> : (tensor<i1>, tensor<i1>) -> tensor<i1>
      %80 = "stablehlo.convert"(%79) : (tensor<i1>) -> tensor<i1>
      %81 = "stablehlo.and"(%80, %76) : (tensor<i1>, tensor<i1>) -> tensor<i1>
      "stablehlo.return"(%81) : (tensor<i1>) -> ()
    }, {
    ^bb0(%arg12: tensor<3x3xf64>, %arg13: tensor<3x3xf64>, %arg14: tensor<i64>, %arg15: tensor<3xf64>, %arg16: tensor<8xf64>, %arg17: tensor<i1>):
      %42 = "stablehlo.dot_general"(%arg12, %arg15) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]}> : (tensor<3x3xf64>, tensor<3xf64>) -> tensor<3xf64>
      %43 = "stablehlo.constant"() <{value = dense<3> : tensor<i64>}> : () -> tensor<i64>
      %44 = "func.call"(%arg14, %43) <{callee = @remainder}> : (tensor<i64>, tensor<i64>) -> tensor<i64>
      %45 = "stablehlo.convert"(%44) : (tensor<i64>) -> tensor<i32>
      %46 = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
      %47 = "stablehlo.compare"(%45, %46) <{compare_type = #stablehlo<comparison_type SIGNED>, comparison_direction = #stablehlo<comparison_direction LT>}> : (tensor<i32>, tensor<i32>) -> tensor<i1>
      %48 = "stablehlo.constant"() <{value = dense<3> : tensor<i32>}> : () -> tensor<i32>
      %49 = "stablehlo.add"(%45, %48) : (tensor<i32>, tensor<i32>) -> tensor<i32>
      %50 = "stablehlo.select"(%47, %49, %45) : (tensor<i1>, tensor<i32>, tensor<i32>) -> tensor<i32>
      %51 = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
      %52 = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
      %53 = "stablehlo.compare"(%51, %52) <{compare_type = #stablehlo<comparison_type SIGNED>, comparison_direction = #stablehlo<comparison_direction LT>}> : (tensor<i32>, tensor<i32>) -> tensor<i1>
      %54 = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
      %55 = "stablehlo.constant"() <{value = dense<3> : tensor<i32>}> : () -> tensor<i32>
      %56 = "stablehlo.add"(%54, %55) : (tensor<i32>, tensor<i32>) -> tensor<i32>
      %57 = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
      %58 = "stablehlo.select"(%53, %56, %57) : (tensor<i1>, tensor<i32>, tensor<i32>) -> tensor<i32>
      %59 = "stablehlo.dynamic_slice"(%arg13, %50, %58) <{slice_sizes = array<i64: 1, 3>}> : (tensor<3x3xf64>, tensor<i32>, tensor<i32>) -> tensor<1x3xf64>
      %60 = "stablehlo.reshape"(%59) : (tensor<1x3xf64>) -> tensor<3xf64>
      %61 = "stablehlo.add"(%42, %60) : (tensor<3xf64>, tensor<3xf64>) -> tensor<3xf64>
      %62 = "stablehlo.tanh"(%61) : (tensor<3xf64>) -> tensor<3xf64>
      %63 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f64>}> : () -> tensor<f64>
      %64 = "stablehlo.reduce"(%62, %63) <{dimensions = array<i64: 0>}> ({
      ^bb0(%arg20: tensor<f64>, %arg21: tensor<f64>):
        %73 = "stablehlo.add"(%arg20, %arg21) : (tensor<f64>, tensor<f64>) -> tensor<f64>
        "stablehlo.return"(%73) : (tensor<f64>) -> ()
      }) : (tensor<3xf64>, tensor<f64>) -> tensor<f64>
      %65 = "func.call"(%arg16, %64, %arg14) <{callee = @dynamic_update_index_in_dim}> : (tensor<8xf64>, tensor<f64>, tensor<i64>) -> tensor<8xf64>
      %66 = "stablehlo.constant"() <{value = dense<1> : tensor<i64>}> : () -> tensor<i64>
      %67 = "stablehlo.add"(%arg14, %66) : (tensor<i64>, tensor<i64>) -> tensor<i64>
      %68 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f64>}> : () -> tensor<f64>
      %69 = "stablehlo.reduce"(%62, %68) <{dimensions = array<i64: 0>}> ({
      ^bb0(%arg18: tensor<f64>, %arg19: tensor<f64>):
        %72 = "stablehlo.add"(%arg18, %arg19) : (tensor<f64>, tensor<f64>) -> tensor<f64>
        "stablehlo.return"(%72) : (tensor<f64>) -> ()
      }) : (tensor<3xf64>, tensor<f64>) -> tensor<f64>
      %70 = "stablehlo.constant"() <{value = dense<-1.500000e+00> : tensor<f64>}> : () -> tensor<f64>
      %71 = "stablehlo.compare"(%69, %70) <{compare_type = #stablehlo<comparison_type FLOAT>, comparison_direction = #stablehlo<comparison_direction LT>}> : (tensor<f64>, tensor<f64>) -> tensor<i1>
      "stablehlo.return"(%arg12, %arg13, %67, %62, %65, %71) : (tensor<3x3xf64>, tensor<3x3xf64>, tensor<i64>, tensor<3xf64>, tensor<8xf64>, tensor<i1>) -> ()
    }) : (tensor<3x3xf64>, tensor<3x3xf64>, tensor<i64>, tensor<3xf64>, tensor<8xf64>, tensor<i1>) -> (tensor<3x3xf64>, tensor<3x3xf64>, tensor<i64>, tensor<3xf64>, tensor<8xf64>, tensor<i1>)
    %31 = "stablehlo.iota"() <{iota_dimension = 0 : i64}> : () -> tensor<8xf64>
    %32 = "stablehlo.constant"() <{value = dense<1.000000e+00> : tensor<f64>}> : () -> tensor<f64>
    %33 = "stablehlo.broadcast_in_dim"(%32) <{broadcast_dimensions = array<i64>}> : (tensor<f64>) -> tensor<8xf64>
    %34 = "stablehlo.add"(%33, %31) : (tensor<8xf64>, tensor<8xf64>) -> tensor<8xf64>
    %35 = "stablehlo.cosine"(%34) : (tensor<8xf64>) -> tensor<8xf64>
    %36 = "stablehlo.multiply"(%35, %30#4) : (tensor<8xf64>, tensor<8xf64>) -> tensor<8xf64>
    %37 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f64>}> : () -> tensor<f64>
    %38 = "stablehlo.reduce"(%36, %37) <{dimensions = array<i64: 0>}> ({
    ^bb0(%arg10: tensor<f64>, %arg11: tensor<f64>):
      %41 = "stablehlo.add"(%arg10, %arg11) : (tensor<f64>, tensor<f64>) -> tensor<f64>
      "stablehlo.return"(%41) : (tensor<f64>) -> ()
    }) : (tensor<8xf64>, tensor<f64>) -> tensor<f64>
    %39 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f64>}> : () -> tensor<f64>
    %40 = "stablehlo.add"(%39, %38) : (tensor<f64>, tensor<f64>) -> tensor<f64>
    "func.return"(%40) : (tensor<f64>) -> ()
  }) : () -> ()
  "func.func"() <{arg_attrs = [{}, {}], function_type = (tensor<i64>, tensor<i64>) -> tensor<i64>, res_attrs = [{}], sym_name = "remainder", sym_visibility = "private"}> ({
  ^bb0(%arg6: tensor<i64>, %arg7: tensor<i64>):
    %9 = "stablehlo.constant"() <{value = dense<0> : tensor<i64>}> : () -> tensor<i64>
    %10 = "stablehlo.compare"(%arg7, %9) <{compare_type = #stablehlo<comparison_type SIGNED>, comparison_direction = #stablehlo<comparison_direction EQ>}> : (tensor<i64>, tensor<i64>) -> tensor<i1>
    %11 = "stablehlo.constant"() <{value = dense<1> : tensor<i64>}> : () -> tensor<i64>
    %12 = "func.call"(%10, %11, %arg7) <{callee = @_where}> : (tensor<i1>, tensor<i64>, tensor<i64>) -> tensor<i64>
    %13 = "stablehlo.remainder"(%arg6, %12) : (tensor<i64>, tensor<i64>) -> tensor<i64>
    %14 = "stablehlo.constant"() <{value = dense<0> : tensor<i64>}> : () -> tensor<i64>
    %15 = "stablehlo.compare"(%13, %14) <{compare_type = #stablehlo<comparison_type SIGNED>, comparison_direction = #stablehlo<comparison_direction NE>}> : (tensor<i64>, tensor<i64>) -> tensor<i1>
    %16 = "stablehlo.constant"() <{value = dense<0> : tensor<i64>}> : () -> tensor<i64>
    %17 = "stablehlo.compare"(%13, %16) <{compare_type = #stablehlo<comparison_type SIGNED>, comparison_direction = #stablehlo<comparison_direction LT>}> : (tensor<i64>, tensor<i64>) -> tensor<i1>
    %18 = "stablehlo.constant"() <{value = dense<0> : tensor<i64>}> : () -> tensor<i64>
    %19 = "stablehlo.compare"(%12, %18) <{compare_type = #stablehlo<comparison_type SIGNED>, comparison_direction = #stablehlo<comparison_direction LT>}> : (tensor<i64>, tensor<i64>) -> tensor<i1>
    %20 = "stablehlo.compare"(%17, %19) <{compare_type = #stablehlo<comparison_type UNSIGNED>, comparison_direction = #stablehlo<comparison_direction NE>}> : (tensor<i1>, tensor<i1>) -> tensor<i1>
    %21 = "stablehlo.and"(%20, %15) : (tensor<i1>, tensor<i1>) -> tensor<i1>
    %22 = "stablehlo.add"(%13, %12) : (tensor<i64>, tensor<i64>) -> tensor<i64>
    %23 = "stablehlo.select"(%21, %22, %13) : (tensor<i1>, tensor<i64>, tensor<i64>) -> tensor<i64>
    "func.return"(%23) : (tensor<i64>) -> ()
  }) : () -> ()
  "func.func"() <{arg_attrs = [{}, {}, {}], function_type = (tensor<i1>, tensor<i64>, tensor<i64>) -> tensor<i64>, res_attrs = [{}], sym_name = "_where", sym_visibility = "private"}> ({
  ^bb0(%arg3: tensor<i1>, %arg4: tensor<i64>, %arg5: tensor<i64>):
    %8 = "stablehlo.select"(%arg3, %arg4, %arg5) : (tensor<i1>, tensor<i64>, tensor<i64>) -> tensor<i64>
    "func.return"(%8) : (tensor<i64>) -> ()
  }) : () -> ()
  "func.func"() <{arg_attrs = [{}, {}, {}], function_type = (tensor<8xf64>, tensor<f64>, tensor<i64>) -> tensor<8xf64>, res_attrs = [{}], sym_name = "dynamic_update_index_in_dim", sym_visibility = "private"}> ({
  ^bb0(%arg0: tensor<8xf64>, %arg1: tensor<f64>, %arg2: tensor<i64>):
    %0 = "stablehlo.broadcast_in_dim"(%arg1) <{broadcast_dimensions = array<i64>}> : (tensor<f64>) -> tensor<1xf64>
    %1 = "stablehlo.constant"() <{value = dense<0> : tensor<i64>}> : () -> tensor<i64>
    %2 = "stablehlo.compare"(%arg2, %1) <{compare_type = #stablehlo<comparison_type SIGNED>, comparison_direction = #stablehlo<comparison_direction LT>}> : (tensor<i64>, tensor<i64>) -> tensor<i1>
    %3 = "stablehlo.convert"(%arg2) : (tensor<i64>) -> tensor<i64>
    %4 = "stablehlo.constant"() <{value = dense<8> : tensor<i64>}> : () -> tensor<i64>
    %5 = "stablehlo.add"(%3, %4) : (tensor<i64>, tensor<i64>) -> tensor<i64>
    %6 = "stablehlo.select"(%2, %5, %arg2) : (tensor<i1>, tensor<i64>, tensor<i64>) -> tensor<i64>
    %7 = "stablehlo.dynamic_update_slice"(%arg0, %0, %6) : (tensor<8xf64>, tensor<1xf64>, tensor<i64>) -> tensor<8xf64>
    "func.return"(%7) : (tensor<8xf64>) -> ()
  }) : () -> ()
}) {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} : () -> ()
