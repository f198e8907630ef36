// RUN: not pir-opt %s 2>&1 | FileCheck %s

"func.func"() <{function_type = (tensor<2x3xf64>, tensor<4x5xf64>) -> (), sym_name = "main"}> ({
^bb0(%a: tensor<2x3xf64>, %b: tensor<4x5xf64>):
  %init = "stablehlo.constant"() <{value = dense<0.0> : tensor<f64>}> : () -> tensor<f64>
  // CHECK: :[[@LINE+1]]:9: error: `stablehlo.dot_general`: batching and contracting dimensions must have the same sizes in both operands
  %0 = "stablehlo.dot_general"(%a, %b) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]>}> : (tensor<2x3xf64>, tensor<4x5xf64>) -> tensor<2x5xf64>
  // CHECK: error: `stablehlo.reshape`: the operand has 6 elements, the result 5
  %1 = "stablehlo.reshape"(%a) : (tensor<2x3xf64>) -> tensor<5xf64>
  // CHECK: error: `stablehlo.slice`: the slice `0:9:1` is out of range for dimension 1, which has extent 3
  %2 = "stablehlo.slice"(%a) <{limit_indices = array<i64: 2, 9>, start_indices = array<i64: 0, 0>, strides = array<i64: 1, 1>}> : (tensor<2x3xf64>) -> tensor<2x9xf64>
  // CHECK: error: `stablehlo.transpose`: `permutation` must name each of the 2 dimensions once
  %3 = "stablehlo.transpose"(%a) <{permutation = array<i64: 1, 1>}> : (tensor<2x3xf64>) -> tensor<3x3xf64>
  // CHECK: error: `stablehlo.broadcast_in_dim`: a dimension of the operand must be 1, or that of the result
  %4 = "stablehlo.broadcast_in_dim"(%a) <{broadcast_dimensions = array<i64: 0, 1>}> : (tensor<2x3xf64>) -> tensor<2x4xf64>
  // CHECK: error: `stablehlo.reduce`: the result has type `tensor<3xf64>`, but operands and attributes give `tensor<2xf64>`
  %5 = "stablehlo.reduce"(%a, %init) <{dimensions = array<i64: 1>}> ({
  ^bb0(%x: tensor<f64>, %y: tensor<f64>):
    %s = "stablehlo.add"(%x, %y) : (tensor<f64>, tensor<f64>) -> tensor<f64>
    "stablehlo.return"(%s) : (tensor<f64>) -> ()
  }) : (tensor<2x3xf64>, tensor<f64>) -> tensor<3xf64>
  "func.return"() : () -> ()
}) : () -> ()
