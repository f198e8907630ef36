// RUN: not pir-run %s 2>&1 | FileCheck %s

"func.func"() <{function_type = () -> tensor<1x2x2x1xf64>, sym_name = "main"}> ({
  %x = "stablehlo.constant"() <{value = dense<1.0> : tensor<1x3x3x1xf64>}> : () -> tensor<1x3x3x1xf64>
  %k = "stablehlo.constant"() <{value = dense<1.0> : tensor<2x2x1x1xf64>}> : () -> tensor<2x2x1x1xf64>
  // CHECK: :[[@LINE+1]]:9: error: `stablehlo.convolution`: `dimension_numbers` must
  %y = "stablehlo.convolution"(%x, %k) <{batch_group_count = 1 : i64, dimension_numbers = #stablehlo.conv<[b]x[]->[f]>, feature_group_count = 1 : i64}> : (tensor<1x3x3x1xf64>, tensor<2x2x1x1xf64>) -> tensor<1x2x2x1xf64>
  "func.return"(%y) : (tensor<1x2x2x1xf64>) -> ()
}) : () -> ()
