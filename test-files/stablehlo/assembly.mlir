// RUN: not pir-opt %s 2>&1 | FileCheck %s

func.func @f(%a: tensor<f64>) -> tensor<f64> {
  // CHECK: :[[@LINE+1]]:8: error: `stablehlo.add` is in the custom assembly of the dialect `stablehlo`
  %0 = stablehlo.add %a, %a : tensor<f64>
  %1 = stablehlo.add (%a, %a) : tensor<f64>
  return %1 : tensor<f64>
}
