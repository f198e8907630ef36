// RUN: pir-opt --pass=stablehlo-to-pd-control,backward,licm,lower-stacks %s | FileCheck %s
// RUN: pir-opt --pass=jax-vjp{bound=1,split=false} %s | pir-run - --input arg0=0.5 --input ct0=1 | FileCheck %s --check-prefix=VALUE
// RUN: pir-opt --pass=stablehlo-to-pd-control,licm,peel{last=true},unroll %s | pir-run - --input arg0=0.5 | FileCheck %s --check-prefix=SAME
// A loop that counts to a constant with operations of StableHLO needs no bound, and is not subject to one.
"builtin.module"() <{sym_name = "jit_f"}> ({
  "func.func"() <{function_type = (tensor<f64>) -> tensor<f64>, sym_name = "main", sym_visibility = "public"}> ({
  ^bb0(%arg0: tensor<f64>):
    %0 = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
    %1:2 = "stablehlo.while"(%0, %arg0) ({
    ^bb0(%i: tensor<i32>, %x: tensor<f64>):
      %2 = "stablehlo.constant"() <{value = dense<5> : tensor<i32>}> : () -> tensor<i32>
      %3 = "stablehlo.compare"(%i, %2) <{compare_type = #stablehlo<comparison_type SIGNED>, comparison_direction = #stablehlo<comparison_direction LT>}> : (tensor<i32>, tensor<i32>) -> tensor<i1>
      "stablehlo.return"(%3) : (tensor<i1>) -> ()
    }, {
    ^bb0(%j: tensor<i32>, %y: tensor<f64>):
      %4 = "stablehlo.sine"(%y) : (tensor<f64>) -> tensor<f64>
      %5 = "stablehlo.constant"() <{value = dense<1> : tensor<i32>}> : () -> tensor<i32>
      %6 = "stablehlo.add"(%j, %5) : (tensor<i32>, tensor<i32>) -> tensor<i32>
      "stablehlo.return"(%6, %4) : (tensor<i32>, tensor<f64>) -> ()
    }) : (tensor<i32>, tensor<f64>) -> (tensor<i32>, tensor<f64>)
    "func.return"(%1#1) : (tensor<f64>) -> ()
  }) : () -> ()
}) : () -> ()

// CHECK: pd.full {shape = [5], value = 0.0, dtype = f64}
// CHECK-NOT: cf.{{.*}}stack
// The product of the cosines of 0.5 and its sines; the fifth sine.
// VALUE: out:0 = tensor<f64> 0.57190309633829
// SAME: out:0 = tensor<f64> 0.41735695280293
