// RUN: not pir-opt --pass=stablehlo-to-pd-control,backward,licm,lower-stacks %s 2>&1 | FileCheck %s
// Unsigned numbers wrap around elsewhere: their counts are not known.
"builtin.module"() <{sym_name = "jit_f"}> ({
  "func.func"() <{function_type = (tensor<f64>) -> tensor<f64>, sym_name = "main", sym_visibility = "public"}> ({
  ^bb0(%arg0: tensor<f64>):
    %0 = "stablehlo.constant"() <{value = dense<0> : tensor<ui32>}> : () -> tensor<ui32>
    %1:2 = "stablehlo.while"(%0, %arg0) ({
    ^bb0(%i: tensor<ui32>, %x: tensor<f64>):
      %2 = "stablehlo.constant"() <{value = dense<5> : tensor<ui32>}> : () -> tensor<ui32>
      %3 = "stablehlo.compare"(%i, %2) <{compare_type = #stablehlo<comparison_type UNSIGNED>, comparison_direction = #stablehlo<comparison_direction LT>}> : (tensor<ui32>, tensor<ui32>) -> tensor<i1>
      "stablehlo.return"(%3) : (tensor<i1>) -> ()
    }, {
    ^bb0(%j: tensor<ui32>, %y: tensor<f64>):
      %4 = "stablehlo.sine"(%y) : (tensor<f64>) -> tensor<f64>
      %5 = "stablehlo.constant"() <{value = dense<1> : tensor<ui32>}> : () -> tensor<ui32>
      %6 = "stablehlo.add"(%j, %5) : (tensor<ui32>, tensor<ui32>) -> tensor<ui32>
      "stablehlo.return"(%6, %4) : (tensor<ui32>, tensor<f64>) -> ()
    }) : (tensor<ui32>, tensor<f64>) -> (tensor<ui32>, tensor<f64>)
    "func.return"(%1#1) : (tensor<f64>) -> ()
  }) : () -> ()
}) : () -> ()
// CHECK: the trip count of a loop is unknown
