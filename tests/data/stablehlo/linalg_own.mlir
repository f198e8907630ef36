"builtin.module"() <{sym_name = "own"}> ({
  "func.func"() <{function_type = (tensor<3x3xf64>, tensor<3x2xf64>) -> tensor<f64>, sym_name = "main", sym_visibility = "public"}> ({
  ^bb0(%arg0: tensor<3x3xf64>, %arg1: tensor<3x2xf64>):
    %0 = "stablehlo.constant"() <{value = dense<5.000000e-01> : tensor<3x3xf64>}> : () -> tensor<3x3xf64>
    %1 = "stablehlo.transpose"(%arg0) <{permutation = array<i64: 1, 0>}> : (tensor<3x3xf64>) -> tensor<3x3xf64>
    %2 = "stablehlo.add"(%arg0, %1) : (tensor<3x3xf64>, tensor<3x3xf64>) -> tensor<3x3xf64>
    %3 = "stablehlo.multiply"(%2, %0) : (tensor<3x3xf64>, tensor<3x3xf64>) -> tensor<3x3xf64>
    %4 = "stablehlo.cholesky"(%3) <{lower = true}> : (tensor<3x3xf64>) -> tensor<3x3xf64>
    %5 = "stablehlo.triangular_solve"(%4, %arg1) <{left_side = true, lower = true, transpose_a = #stablehlo<transpose TRANSPOSE>, unit_diagonal = false}> : (tensor<3x3xf64>, tensor<3x2xf64>) -> tensor<3x2xf64>
    %6 = "stablehlo.cosine"(%5) : (tensor<3x2xf64>) -> tensor<3x2xf64>
    %7 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f64>}> : () -> tensor<f64>
    %8 = "stablehlo.reduce"(%6, %7) <{dimensions = array<i64: 0, 1>}> ({
    ^bb0(%arg2: tensor<f64>, %arg3: tensor<f64>):
      %9 = "stablehlo.add"(%arg2, %arg3) : (tensor<f64>, tensor<f64>) -> tensor<f64>
      "stablehlo.return"(%9) : (tensor<f64>) -> ()
    }) : (tensor<3x2xf64>, tensor<f64>) -> tensor<f64>
    "func.return"(%8) : (tensor<f64>) -> ()
  }) : () -> ()
}) : () -> ()
