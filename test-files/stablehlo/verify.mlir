// RUN: not pir-opt %s 2>&1 | FileCheck %s

"func.func"() <{function_type = (tensor<1x3x3x2xf64>, tensor<2x2x2x4xf64>, tensor<4x5xf64>, tensor<6x1xi32>, tensor<f64>, tensor<i32>) -> (), sym_name = "main"}> ({
^bb0(%image: tensor<1x3x3x2xf64>, %filter: tensor<2x2x2x4xf64>, %a: tensor<4x5xf64>, %at: tensor<6x1xi32>, %init: tensor<f64>, %which: tensor<i32>):
  // CHECK: :[[@LINE+1]]:9: error: `stablehlo.convolution`: the result has type `tensor<1x3x2x4xf64>`, but operands and attributes give `tensor<1x2x2x4xf64>`
  %0 = "stablehlo.convolution"(%image, %filter) <{batch_group_count = 1 : i64, dimension_numbers = #stablehlo.conv<[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]>, feature_group_count = 1 : i64}> : (tensor<1x3x3x2xf64>, tensor<2x2x2x4xf64>) -> tensor<1x3x2x4xf64>
  // CHECK: error: `stablehlo.convolution`: 2 features in 2 groups do not match filters of 2 input features
  %1 = "stablehlo.convolution"(%image, %filter) <{batch_group_count = 1 : i64, dimension_numbers = #stablehlo.conv<[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]>, feature_group_count = 2 : i64}> : (tensor<1x3x3x2xf64>, tensor<2x2x2x4xf64>) -> tensor<1x2x2x4xf64>
  // CHECK: error: `stablehlo.reduce_window`: the result has type `tensor<4x5xf64>`, but operands and attributes give `tensor<4x4xf64>`
  %2 = "stablehlo.reduce_window"(%a, %init) <{window_dimensions = array<i64: 1, 2>}> ({
  ^bb0(%x: tensor<f64>, %y: tensor<f64>):
    %s = "stablehlo.add"(%x, %y) : (tensor<f64>, tensor<f64>) -> tensor<f64>
    "stablehlo.return"(%s) : (tensor<f64>) -> ()
  }) : (tensor<4x5xf64>, tensor<f64>) -> tensor<4x5xf64>
  // CHECK: error: `stablehlo.reduce`: region #0 has the type `(tensor<f64>) -> (tensor<f64>)`, but must have `(tensor<f64>, tensor<f64>) -> (tensor<f64>)`
  %3 = "stablehlo.reduce"(%a, %init) <{dimensions = array<i64: 0>}> ({
  ^bb0(%x: tensor<f64>):
    "stablehlo.return"(%x) : (tensor<f64>) -> ()
  }) : (tensor<4x5xf64>, tensor<f64>) -> tensor<5xf64>
  // CHECK: error: `stablehlo.sort`: `dimension` is 2, but the operands have 2 dimensions
  %4 = "stablehlo.sort"(%a) <{dimension = 2 : i64, is_stable = true}> ({
  ^bb0(%x: tensor<f64>, %y: tensor<f64>):
    %s = "stablehlo.compare"(%x, %y) <{comparison_direction = #stablehlo<comparison_direction LT>}> : (tensor<f64>, tensor<f64>) -> tensor<i1>
    "stablehlo.return"(%s) : (tensor<i1>) -> ()
  }) : (tensor<4x5xf64>) -> tensor<4x5xf64>
  // CHECK: error: `stablehlo.scatter`: an index has 1 components for 2 dimensions
  %updates = "stablehlo.constant"() <{value = dense<0.0> : tensor<6xf64>}> : () -> tensor<6xf64>
  %5 = "stablehlo.scatter"(%a, %at, %updates) <{scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [0, 1], scatter_dims_to_operand_dims = [0, 1], index_vector_dim = 1>}> ({
  ^bb0(%x: tensor<f64>, %y: tensor<f64>):
    "stablehlo.return"(%y) : (tensor<f64>) -> ()
  }) : (tensor<4x5xf64>, tensor<6x1xi32>, tensor<6xf64>) -> tensor<4x5xf64>
  // CHECK: error: `stablehlo.gather`: `slice_sizes` must be 1 in the dimensions that are collapsed or batching
  %6 = "stablehlo.gather"(%a, %at) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 2, 5>}> : (tensor<4x5xf64>, tensor<6x1xi32>) -> tensor<6x5xf64>
  // CHECK: error: `stablehlo.case`: region #1 has the type `() -> (tensor<i32>)`, but must have `() -> (tensor<f64>)`
  %7 = "stablehlo.case"(%which) ({
    "stablehlo.return"(%init) : (tensor<f64>) -> ()
  }, {
    "stablehlo.return"(%which) : (tensor<i32>) -> ()
  }) : (tensor<i32>) -> tensor<f64>
  // CHECK: error: `stablehlo.select_and_scatter`: the source must have an element for each window
  %8 = "stablehlo.select_and_scatter"(%a, %a, %init) <{window_dimensions = array<i64: 1, 2>, window_strides = array<i64: 1, 2>}> ({
  ^bb0(%x: tensor<f64>, %y: tensor<f64>):
    %s = "stablehlo.compare"(%x, %y) <{comparison_direction = #stablehlo<comparison_direction GE>}> : (tensor<f64>, tensor<f64>) -> tensor<i1>
    "stablehlo.return"(%s) : (tensor<i1>) -> ()
  }, {
  ^bb0(%x: tensor<f64>, %y: tensor<f64>):
    %s = "stablehlo.add"(%x, %y) : (tensor<f64>, tensor<f64>) -> tensor<f64>
    "stablehlo.return"(%s) : (tensor<f64>) -> ()
  }) : (tensor<4x5xf64>, tensor<4x5xf64>, tensor<f64>) -> tensor<4x5xf64>
  // CHECK: error: `stablehlo.bitcast_convert`: the result must have the bits of the operand
  %9 = "stablehlo.bitcast_convert"(%a) : (tensor<4x5xf64>) -> tensor<4x5xi32>
  // CHECK: error: `stablehlo.rng_bit_generator`: the result has type `tensor<3xui64>`, but operands and attributes give `tensor<2xui64>`
  %state = "stablehlo.constant"() <{value = dense<1> : tensor<2xui64>}> : () -> tensor<2xui64>
  %10:2 = "stablehlo.rng_bit_generator"(%state) <{rng_algorithm = #stablehlo<rng_algorithm DEFAULT>}> : (tensor<2xui64>) -> (tensor<3xui64>, tensor<4xui32>)
  // CHECK: error: `stablehlo.is_finite`: expected floats, found `i32`
  %11 = "stablehlo.is_finite"(%which) : (tensor<i32>) -> tensor<i1>
  "func.return"() : () -> ()
}) : () -> ()
