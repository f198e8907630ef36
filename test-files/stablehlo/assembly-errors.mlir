// RUN: pir-opt --verify-diagnostics %s

func.func @f(%a: tensor<4xf64>, %p: tensor<i1>, %z: tensor<f64>) {
  // expected-error@+1 {{expected `,`, found `%a`}}
  %0 = stablehlo.add %a %a : tensor<4xf64>
  // expected-error@+1 {{expected a value, found `[`}}
  %1 = stablehlo.slice [1:3] : (tensor<4xf64>) -> tensor<2xf64>
  // expected-error@+1 {{expected `dims`, found `dim`}}
  %2 = stablehlo.broadcast_in_dim %a, dim = [0] : (tensor<4xf64>) -> tensor<4x4xf64>
  // expected-error@+1 {{expected one of `EQ`, `NE`, `GE`, `GT`, `LE`, `LT`, found `LESS`}}
  %3 = stablehlo.compare LESS, %a, %a, FLOAT : (tensor<4xf64>, tensor<4xf64>) -> tensor<4xi1>
  // expected-error@+1 {{expected `:`, found `-3`}}
  %4 = stablehlo.slice %a [1-3] : (tensor<4xf64>) -> tensor<2xf64>
  // expected-error@+1 {{there is no operation `stablehlo.ad`}}
  %5 = stablehlo.reduce(%a init: %z) applies stablehlo.ad across dimensions = [0] : (tensor<4xf64>, tensor<f64>) -> tensor<f64>
  // expected-error@+1 {{expected a region}}
  %6 = stablehlo.reduce(%a init: %z) across dimensions = [0] : (tensor<4xf64>, tensor<f64>) -> tensor<f64>
  // expected-error@+1 {{this operand has type `tensor<4xf64>`, not `tensor<4xf32>`}}
  %7 = stablehlo.tanh %a : tensor<4xf32>
  // expected-error@+1 {{attribute `permutation` is given twice}}
  %8 = stablehlo.transpose %a, dims = [0] {permutation = array<i64: 0>} : (tensor<4xf64>) -> tensor<4xf64>
  // expected-error@+1 {{expected one of `DEFAULT`, `HIGH`, `HIGHEST`, found `FAST`}}
  %9 = stablehlo.dot_general %a, %a, contracting_dims = [0] x [0], precision = [FAST, DEFAULT] : (tensor<4xf64>, tensor<4xf64>) -> tensor<f64>
  %10 = stablehlo.while(%i = %z) : tensor<f64>
  cond {
    stablehlo.return %p : tensor<i1>
  // expected-error@+1 {{expected `do`, found `body`}}
  } body {
    stablehlo.return %i : tensor<f64>
  }
  // expected-error@+1 {{expected types for 3 operands and 1 results, found 2}}
  %11 = stablehlo.clamp %a, %a, %a : tensor<4xf64>, tensor<4xf64>
  // expected-error@+1 {{expected an integer, found `first`}}
  %12 = stablehlo.iota dim = first : tensor<4xf64>
  return
}
