"builtin.module"() <{sym_name = "jit_loss"}> ({
  "func.func"() <{arg_attrs = [{}, {}], function_type = (tensor<4x3xf64>, tensor<2x3xf64>) -> tensor<f64>, res_attrs = [{jax.result_info = "result"}], sym_name = "main", sym_visibility = "public"}> ({
  ^bb0(%arg0: tensor<4x3xf64>, %arg1: tensor<2x3xf64>):
    %0 = "stablehlo.constant"() <{value = dense<[2, 0]> : tensor<2xi64>}> : () -> tensor<2xi64>
    %1 = "stablehlo.constant"() <{value = dense<0> : tensor<i64>}> : () -> tensor<i64>
    %2 = "stablehlo.broadcast_in_dim"(%1) <{broadcast_dimensions = array<i64>}> : (tensor<i64>) -> tensor<2xi64>
    %3 = "stablehlo.compare"(%0, %2) <{compare_type = #stablehlo<comparison_type SIGNED>, comparison_direction = #stablehlo<comparison_direction LT>}> : (tensor<2xi64>, tensor<2xi64>) -> tensor<2xi1>
    %4 = "stablehlo.constant"() <{value = dense<4> : tensor<i64>}> : () -> tensor<i64>
    %5 = "stablehlo.broadcast_in_dim"(%4) <{broadcast_dimensions = array<i64>}> : (tensor<i64>) -> tensor<2xi64>
    %6 = "stablehlo.add"(%0, %5) : (tensor<2xi64>, tensor<2xi64>) -> tensor<2xi64>
    %7 = "stablehlo.select"(%3, %6, %0) : (tensor<2xi1>, tensor<2xi64>, tensor<2xi64>) -> tensor<2xi64>
    %8 = "stablehlo.convert"(%7) : (tensor<2xi64>) -> tensor<2xi32>
    %9 = "stablehlo.broadcast_in_dim"(%8) <{broadcast_dimensions = array<i64: 0>}> : (tensor<2xi32>) -> tensor<2x1xi32>
    %10 = "stablehlo.scatter"(%arg0, %9, %arg1) <{indices_are_sorted = false, scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>, unique_indices = true}> ({
    ^bb0(%arg4: tensor<f64>, %arg5: tensor<f64>):
      %23 = "stablehlo.multiply"(%arg4, %arg5) : (tensor<f64>, tensor<f64>) -> tensor<f64>
      "stablehlo.return"(%23) : (tensor<f64>) -> ()
    }) : (tensor<4x3xf64>, tensor<2x1xi32>, tensor<2x3xf64>) -> tensor<4x3xf64>
    %11 = "stablehlo.iota"() <{iota_dimension = 0 : i64}> : () -> tensor<12xf64>
    %12 = "stablehlo.constant"() <{value = dense<1.000000e+00> : tensor<f64>}> : () -> tensor<f64>
    %13 = "stablehlo.broadcast_in_dim"(%12) <{broadcast_dimensions = array<i64>}> : (tensor<f64>) -> tensor<12xf64>
    %14 = "stablehlo.add"(%13, %11) : (tensor<12xf64>, tensor<12xf64>) -> tensor<12xf64>
    %15 = "stablehlo.cosine"(%14) : (tensor<12xf64>) -> tensor<12xf64>
    %16 = "stablehlo.reshape"(%15) : (tensor<12xf64>) -> tensor<4x3xf64>
    %17 = "stablehlo.multiply"(%16, %10) : (tensor<4x3xf64>, tensor<4x3xf64>) -> tensor<4x3xf64>
    %18 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f64>}> : () -> tensor<f64>
    %19 = "stablehlo.reduce"(%17, %18) <{dimensions = array<i64: 0, 1>}> ({
    ^bb0(%arg2: tensor<f64>, %arg3: tensor<f64>):
      %22 = "stablehlo.add"(%arg2, %arg3) : (tensor<f64>, tensor<f64>) -> tensor<f64>
      "stablehlo.return"(%22) : (tensor<f64>) -> ()
    }) : (tensor<4x3xf64>, tensor<f64>) -> tensor<f64>
    %20 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f64>}> : () -> tensor<f64>
    %21 = "stablehlo.add"(%20, %19) : (tensor<f64>, tensor<f64>) -> tensor<f64>
    "func.return"(%21) : (tensor<f64>) -> ()
  }) : () -> ()
}) {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} : () -> ()
