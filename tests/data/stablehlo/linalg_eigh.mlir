"builtin.module"() <{sym_name = "jit_loss"}> ({
  "func.func"() <{arg_attrs = [{}], function_type = (tensor<4x4xf64>) -> tensor<f64>, res_attrs = [{jax.result_info = "result"}], sym_name = "main", sym_visibility = "public"}> ({
  ^bb0(%arg1: tensor<4x4xf64>):
    %19:2 = "func.call"(%arg1) <{callee = @eigh}> : (tensor<4x4xf64>) -> (tensor<4xf64>, tensor<4x4xf64>)
    %20 = "stablehlo.multiply"(%19#1, %19#1) : (tensor<4x4xf64>, tensor<4x4xf64>) -> tensor<4x4xf64>
    %21 = "stablehlo.abs"(%19#1) : (tensor<4x4xf64>) -> tensor<4x4xf64>
    %22 = "stablehlo.sine"(%19#0) : (tensor<4xf64>) -> tensor<4xf64>
    %23 = "stablehlo.broadcast_in_dim"(%22) <{broadcast_dimensions = array<i64: 1>}> : (tensor<4xf64>) -> tensor<1x4xf64>
    %24 = "stablehlo.broadcast_in_dim"(%23) <{broadcast_dimensions = array<i64: 0, 1>}> : (tensor<1x4xf64>) -> tensor<4x4xf64>
    %25 = "stablehlo.multiply"(%19#1, %24) : (tensor<4x4xf64>, tensor<4x4xf64>) -> tensor<4x4xf64>
    %26 = "stablehlo.transpose"(%19#1) <{permutation = array<i64: 1, 0>}> : (tensor<4x4xf64>) -> tensor<4x4xf64>
    %27 = "stablehlo.dot_general"(%25, %26) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]}> : (tensor<4x4xf64>, tensor<4x4xf64>) -> tensor<4x4xf64>
    %28 = "stablehlo.iota"() <{iota_dimension = 0 : i64}> : () -> tensor<4xf64>
    %29 = "stablehlo.constant"() <{value = dense<1.000000e+00> : tensor<f64>}> : () -> tensor<f64>
    %30 = "stablehlo.broadcast_in_dim"(%29) <{broadcast_dimensions = array<i64>}> : (tensor<f64>) -> tensor<4xf64>
    %31 = "stablehlo.add"(%30, %28) : (tensor<4xf64>, tensor<4xf64>) -> tensor<4xf64>
    %32 = "stablehlo.cosine"(%31) : (tensor<4xf64>) -> tensor<4xf64>
    %33 = "stablehlo.multiply"(%32, %19#0) : (tensor<4xf64>, tensor<4xf64>) -> tensor<4xf64>
    %34 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f64>}> : () -> tensor<f64>
    %35 = "stablehlo.reduce"(%33, %34) <{dimensions = array<i64: 0>}> ({
    ^bb0(%arg8: tensor<f64>, %arg9: tensor<f64>):
      %71 = "stablehlo.add"(%arg8, %arg9) : (tensor<f64>, tensor<f64>) -> tensor<f64>
      "stablehlo.return"(%71) : (tensor<f64>) -> ()
    }) : (tensor<4xf64>, tensor<f64>) -> tensor<f64>
    %36 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f64>}> : () -> tensor<f64>
    %37 = "stablehlo.add"(%36, %35) : (tensor<f64>, tensor<f64>) -> tensor<f64>
    %38 = "stablehlo.iota"() <{iota_dimension = 0 : i64}> : () -> tensor<16xf64>
    %39 = "stablehlo.constant"() <{value = dense<2.000000e+00> : tensor<f64>}> : () -> tensor<f64>
    %40 = "stablehlo.broadcast_in_dim"(%39) <{broadcast_dimensions = array<i64>}> : (tensor<f64>) -> tensor<16xf64>
    %41 = "stablehlo.add"(%40, %38) : (tensor<16xf64>, tensor<16xf64>) -> tensor<16xf64>
    %42 = "stablehlo.cosine"(%41) : (tensor<16xf64>) -> tensor<16xf64>
    %43 = "stablehlo.reshape"(%42) : (tensor<16xf64>) -> tensor<4x4xf64>
    %44 = "stablehlo.multiply"(%43, %20) : (tensor<4x4xf64>, tensor<4x4xf64>) -> tensor<4x4xf64>
    %45 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f64>}> : () -> tensor<f64>
    %46 = "stablehlo.reduce"(%44, %45) <{dimensions = array<i64: 0, 1>}> ({
    ^bb0(%arg6: tensor<f64>, %arg7: tensor<f64>):
      %70 = "stablehlo.add"(%arg6, %arg7) : (tensor<f64>, tensor<f64>) -> tensor<f64>
      "stablehlo.return"(%70) : (tensor<f64>) -> ()
    }) : (tensor<4x4xf64>, tensor<f64>) -> tensor<f64>
    %47 = "stablehlo.add"(%37, %46) : (tensor<f64>, tensor<f64>) -> tensor<f64>
    %48 = "stablehlo.iota"() <{iota_dimension = 0 : i64}> : () -> tensor<16xf64>
    %49 = "stablehlo.constant"() <{value = dense<3.000000e+00> : tensor<f64>}> : () -> tensor<f64>
    %50 = "stablehlo.broadcast_in_dim"(%49) <{broadcast_dimensions = array<i64>}> : (tensor<f64>) -> tensor<16xf64>
    %51 = "stablehlo.add"(%50, %48) : (tensor<16xf64>, tensor<16xf64>) -> tensor<16xf64>
    %52 = "stablehlo.cosine"(%51) : (tensor<16xf64>) -> tensor<16xf64>
    %53 = "stablehlo.reshape"(%52) : (tensor<16xf64>) -> tensor<4x4xf64>
    %54 = "stablehlo.multiply"(%53, %21) : (tensor<4x4xf64>, tensor<4x4xf64>) -> tensor<4x4xf64>
    %55 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f64>}> : () -> tensor<f64>
    %56 = "stablehlo.reduce"(%54, %55) <{dimensions = array<i64: 0, 1>}> ({
    ^bb0(%arg4: tensor<f64>, %arg5: tensor<f64>):
      %69 = "stablehlo.add"(%arg4, %arg5) : (tensor<f64>, tensor<f64>) -> tensor<f64>
      "stablehlo.return"(%69) : (tensor<f64>) -> ()
    }) : (tensor<4x4xf64>, tensor<f64>) -> tensor<f64>
    %57 = "stablehlo.add"(%47, %56) : (tensor<f64>, tensor<f64>) -> tensor<f64>
    %58 = "stablehlo.iota"() <{iota_dimension = 0 : i64}> : () -> tensor<16xf64>
    %59 = "stablehlo.constant"() <{value = dense<4.000000e+00> : tensor<f64>}> : () -> tensor<f64>
    %60 = "stablehlo.broadcast_in_dim"(%59) <{broadcast_dimensions = array<i64>}> : (tensor<f64>) -> tensor<16xf64>
    %61 = "stablehlo.add"(%60, %58) : (tensor<16xf64>, tensor<16xf64>) -> tensor<16xf64>
    %62 = "stablehlo.cosine"(%61) : (tensor<16xf64>) -> tensor<16xf64>
    %63 = "stablehlo.reshape"(%62) : (tensor<16xf64>) -> tensor<4x4xf64>
    %64 = "stablehlo.multiply"(%63, %27) : (tensor<4x4xf64>, tensor<4x4xf64>) -> tensor<4x4xf64>
    %65 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f64>}> : () -> tensor<f64>
    %66 = "stablehlo.reduce"(%64, %65) <{dimensions = array<i64: 0, 1>}> ({
    ^bb0(%arg2: tensor<f64>, %arg3: tensor<f64>):
      %68 = "stablehlo.add"(%arg2, %arg3) : (tensor<f64>, tensor<f64>) -> tensor<f64>
      "stablehlo.return"(%68) : (tensor<f64>) -> ()
    }) : (tensor<4x4xf64>, tensor<f64>) -> tensor<f64>
    %67 = "stablehlo.add"(%57, %66) : (tensor<f64>, tensor<f64>) -> tensor<f64>
    "func.return"(%67) : (tensor<f64>) -> ()
  }) : () -> ()
  "func.func"() <{arg_attrs = [{}], function_type = (tensor<4x4xf64>) -> (tensor<4xf64>, tensor<4x4xf64>), res_attrs = [{}, {}], sym_name = "eigh", sym_visibility = "private"}> ({
  ^bb0(%arg0: tensor<4x4xf64>):
    %0 = "stablehlo.transpose"(%arg0) <{permutation = array<i64: 1, 0>}> : (tensor<4x4xf64>) -> tensor<4x4xf64>
    %1 = "stablehlo.add"(%arg0, %0) : (tensor<4x4xf64>, tensor<4x4xf64>) -> tensor<4x4xf64>
    %2 = "stablehlo.constant"() <{value = dense<2.000000e+00> : tensor<f64>}> : () -> tensor<f64>
    %3 = "stablehlo.broadcast_in_dim"(%2) <{broadcast_dimensions = array<i64>}> : (tensor<f64>) -> tensor<4x4xf64>
    %4 = "stablehlo.divide"(%1, %3) : (tensor<4x4xf64>, tensor<4x4xf64>) -> tensor<4x4xf64>
    %5:3 = "stablehlo.custom_call"(%4) <{api_version = 1 : i32, backend_config = "", call_target_name = "lapack_dsyevd_ffi", called_computations = [], has_side_effect = false, operand_layouts = [dense<[0, 1]> : tensor<2xindex>], output_operand_aliases = [#stablehlo.output_operand_alias<output_tuple_indices = [0], operand_index = 0, operand_tuple_indices = []>], result_layouts = [dense<[0, 1]> : tensor<2xindex>, dense<0> : tensor<1xindex>, dense<> : tensor<0xindex>]}> {mhlo.backend_config = {mode = 86 : ui8, uplo = 76 : ui8}, mhlo.frontend_attributes = {num_batch_dims = "0"}, sdy.sharding_rule = #sdy.op_sharding_rule<([i, j])->([k, l], [m], []) {i=4, j=4, k=4, l=4, m=4}, custom>} : (tensor<4x4xf64>) -> (tensor<4x4xf64>, tensor<4xf64>, tensor<i32>)
    %6 = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
    %7 = "stablehlo.broadcast_in_dim"(%6) <{broadcast_dimensions = array<i64>}> : (tensor<i32>) -> tensor<i32>
    %8 = "stablehlo.compare"(%5#2, %7) <{compare_type = #stablehlo<comparison_type SIGNED>, comparison_direction = #stablehlo<comparison_direction EQ>}> : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %9 = "stablehlo.broadcast_in_dim"(%8) <{broadcast_dimensions = array<i64>}> : (tensor<i1>) -> tensor<1x1xi1>
    %10 = "stablehlo.constant"() <{value = dense<0x7FF8000000000000> : tensor<f64>}> : () -> tensor<f64>
    %11 = "stablehlo.broadcast_in_dim"(%10) <{broadcast_dimensions = array<i64>}> : (tensor<f64>) -> tensor<4x4xf64>
    %12 = "stablehlo.broadcast_in_dim"(%9) <{broadcast_dimensions = array<i64: 0, 1>}> : (tensor<1x1xi1>) -> tensor<4x4xi1>
    %13 = "stablehlo.select"(%12, %5#0, %11) : (tensor<4x4xi1>, tensor<4x4xf64>, tensor<4x4xf64>) -> tensor<4x4xf64>
    %14 = "stablehlo.broadcast_in_dim"(%8) <{broadcast_dimensions = array<i64>}> : (tensor<i1>) -> tensor<1xi1>
    %15 = "stablehlo.constant"() <{value = dense<0x7FF8000000000000> : tensor<f64>}> : () -> tensor<f64>
    %16 = "stablehlo.broadcast_in_dim"(%15) <{broadcast_dimensions = array<i64>}> : (tensor<f64>) -> tensor<4xf64>
    %17 = "stablehlo.broadcast_in_dim"(%14) <{broadcast_dimensions = array<i64: 0>}> : (tensor<1xi1>) -> tensor<4xi1>
    %18 = "stablehlo.select"(%17, %5#1, %16) : (tensor<4xi1>, tensor<4xf64>, tensor<4xf64>) -> tensor<4xf64>
    "func.return"(%18, %13) : (tensor<4xf64>, tensor<4x4xf64>) -> ()
  }) : () -> ()
}) {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} : () -> ()
