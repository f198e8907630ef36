// RUN: pir-opt --pass=jax-vjp --print-pipeline %s 2>&1 | FileCheck %s --check-prefix=PIPE
// RUN: pir-opt --pass=jax-vjp{bound=9,overflow=unchecked,split=false} --print-pipeline %s 2>&1 | FileCheck %s --check-prefix=BOUND
// RUN: pir-opt --pass=jax-vjp{slots=3,segment=5} --print-pipeline %s 2>&1 | FileCheck %s --check-prefix=SLOTS
// RUN: pir-opt --pass=jax-vjp %s | FileCheck %s
// RUN: pir-opt --pass=jax-vjp{split=false} %s | pir-run - --input arg0=[0.5,2,3] --input arg1=1 --input arg2=2 --input ct0=[1,-2] | FileCheck %s --check-prefix=VALUE
// RUN: pir-opt --pass=jax-vjp{split=false} --emit=stablehlo %s | pir-run - --input arg0=[0.5,2,3] --input arg1=1 --input arg2=2 --input ct0=[1,-2] | FileCheck %s --check-prefix=VALUE
// RUN: pir-opt --pass=jax-vjp --emit=stablehlo %s | FileCheck %s --check-prefix=HLO
// A window at a computed index, which is a residual, and smaller than what it is cut from, as are the index and the factor.
// The integer result has no cotangent.
"builtin.module"() <{sym_name = "jit_f"}> ({
  "func.func"() <{function_type = (tensor<3xf64>, tensor<i32>, tensor<f64>) -> (tensor<2xf64>, tensor<i32>), sym_name = "main", sym_visibility = "public"}> ({
  ^bb0(%arg0: tensor<3xf64>, %arg1: tensor<i32>, %arg2: tensor<f64>):
    %0 = "stablehlo.dynamic_slice"(%arg0, %arg1) <{slice_sizes = array<i64: 2>}> : (tensor<3xf64>, tensor<i32>) -> tensor<2xf64>
    %1 = "stablehlo.broadcast_in_dim"(%arg2) <{broadcast_dimensions = array<i64>}> : (tensor<f64>) -> tensor<2xf64>
    %2 = "stablehlo.multiply"(%0, %1) : (tensor<2xf64>, tensor<2xf64>) -> tensor<2xf64>
    %3 = "stablehlo.case"(%arg1) ({
      "stablehlo.return"(%1) : (tensor<2xf64>) -> ()
    }, {
      %5 = "stablehlo.multiply"(%2, %2) : (tensor<2xf64>, tensor<2xf64>) -> tensor<2xf64>
      "stablehlo.return"(%5) : (tensor<2xf64>) -> ()
    }) : (tensor<i32>) -> tensor<2xf64>
    "func.return"(%3, %arg1) : (tensor<2xf64>, tensor<i32>) -> ()
  }) : () -> ()
}) : () -> ()

// PIPE: stablehlo-to-pd-control,inline
// PIPE-SAME: build-backward{seed=[args], from-operands=true}
// PIPE-SAME: remat{slots=32, segment=128}
// PIPE-SAME: lower-stacks,canonicalize,licm,cse,split-vjp,dce

// BOUND: build-backward{seed=[args], from-operands=false}
// BOUND-SAME: ,remat,batch-weight-grads{static=true},lower-stacks{bound=9, overflow=unchecked},canonicalize,licm,cse,split-vjp{split=false},
// SLOTS: ,remat{slots=3, segment=5},batch-weight-grads{static=true},lower-stacks,canonicalize,licm,cse,split-vjp,

// CHECK: func.func public @main(%arg0: tensor<3xf64>, %arg1: tensor<i32>, %arg2: tensor<f64>) -> (tensor<2xf64>, tensor<i32>) {
// CHECK: func.func public @main.fwd(%arg0: tensor<3xf64>, %arg1: tensor<i32>, %arg2: tensor<f64>) -> (tensor<2xf64>, tensor<i32>, tensor<i32>, tensor<f64>, tensor<2xf64>) {
// CHECK: func.func public @main.bwd(%arg1: tensor<i32>, %arg2: tensor<f64>, %0: tensor<2xf64>, %ct0: tensor<2xf64>) -> (tensor<3xf64>, tensor<f64>) {

// The square of (2, 3) * 2: 2 (x c)^2, with the cotangents (1, -2).
// VALUE: out:0 = tensor<3xf64> [0, 16, -48]
// VALUE-NEXT: out:1 = tensor<f64> -56

// HLO: sym_name = "main", sym_visibility = "public"
// HLO: sym_name = "main.fwd"
// HLO: sym_name = "main.bwd"
