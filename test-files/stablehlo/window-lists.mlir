// RUN: not pir-run %s 2>&1 | FileCheck %s

"func.func"() <{function_type = () -> tensor<2xf64>, sym_name = "main"}> ({
  %x = "stablehlo.constant"() <{value = dense<1.0> : tensor<3xf64>}> : () -> tensor<3xf64>
  %z = "stablehlo.constant"() <{value = dense<0.0> : tensor<f64>}> : () -> tensor<f64>
  // CHECK: :[[@LINE+1]]:9: error: `stablehlo.reduce_window`: expected 1 numbers in `window_strides`, found 0
  %y = "stablehlo.reduce_window"(%x, %z) <{window_dimensions = array<i64: 2>, window_strides = array<i64>}> ({
  ^bb0(%a: tensor<f64>, %b: tensor<f64>):
    %s = "stablehlo.add"(%a, %b) : (tensor<f64>, tensor<f64>) -> tensor<f64>
    "stablehlo.return"(%s) : (tensor<f64>) -> ()
  }) : (tensor<3xf64>, tensor<f64>) -> tensor<2xf64>
  "func.return"(%y) : (tensor<2xf64>) -> ()
}) : () -> ()
