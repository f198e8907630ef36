// A loop in a branch of a loop: what it reads of the iteration around it is read by the dual of that, too.
// RUN: pir-opt --pass='jax-vjp{slots=3,segment=4,split=false}' %s | pir-run - --input arg0=0.6 --input arg1=4 --input ct0=1 | FileCheck %s
// RUN: pir-opt --pass='jax-vjp{bound=32,split=false}' %s | pir-run - --input arg0=0.6 --input arg1=4 --input ct0=1 | FileCheck %s
// RUN: pir-opt --pass='jax-vjp{bound=2,split=false}' %s | pir-run - --input arg0=0.6 --input arg1=4 --input ct0=1 | FileCheck %s
// RUN: pir-opt --pass='jax-vjp{bound=32,overflow=nan,split=false}' %s | pir-run - --input arg0=0.6 --input arg1=4 --input ct0=1 | FileCheck %s

module @jit_branch attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<f64>, %arg1: tensor<i64>) -> (tensor<f64> {jax.result_info = "result"}) {
    %c = stablehlo.constant dense<0> : tensor<i64>
    %0:4 = stablehlo.while(%iterArg = %arg0, %iterArg_0 = %c, %iterArg_1 = %arg1, %iterArg_2 = %arg0) : tensor<f64>, tensor<i64>, tensor<i64>, tensor<f64>
    cond {
      %1 = stablehlo.compare LT, %iterArg_0, %iterArg_1, SIGNED : (tensor<i64>, tensor<i64>) -> tensor<i1>
      stablehlo.return %1 : tensor<i1>
    } do {
      %c_3 = stablehlo.constant dense<1> : tensor<i64>
      %1 = stablehlo.add %iterArg_0, %c_3 : tensor<i64>
      %2 = stablehlo.sine %iterArg_2 : tensor<f64>
      %cst = stablehlo.constant dense<1.000000e-01> : tensor<f64>
      %3 = stablehlo.compare GT, %iterArg_2, %cst, FLOAT : (tensor<f64>, tensor<f64>) -> tensor<i1>
      %4 = stablehlo.convert %3 : (tensor<i1>) -> tensor<i32>
      %5 = "stablehlo.case"(%4) ({
        %cst_4 = stablehlo.constant dense<3.000000e-01> : tensor<f64>
        %8 = stablehlo.add %iterArg_2, %cst_4 : tensor<f64>
        stablehlo.return %8 : tensor<f64>
      }, {
        %c_4 = stablehlo.constant dense<0> : tensor<i64>
        %c_5 = stablehlo.constant dense<0> : tensor<i64>
        %8:4 = stablehlo.while(%iterArg_6 = %2, %iterArg_7 = %c_5, %iterArg_8 = %c_4, %iterArg_9 = %iterArg_2) : tensor<f64>, tensor<i64>, tensor<i64>, tensor<f64>
        cond {
          %c_10 = stablehlo.constant dense<9> : tensor<i64>
          %9 = stablehlo.compare LT, %iterArg_7, %c_10, SIGNED : (tensor<i64>, tensor<i64>) -> tensor<i1>
          stablehlo.return %9 : tensor<i1>
        } do {
          %9:2 = func.call @closed_call(%iterArg_6, %iterArg_8, %iterArg_9) : (tensor<f64>, tensor<i64>, tensor<f64>) -> (tensor<i64>, tensor<f64>)
          %c_10 = stablehlo.constant dense<1> : tensor<i64>
          %10 = stablehlo.add %iterArg_7, %c_10 : tensor<i64>
          stablehlo.return %iterArg_6, %10, %9#0, %9#1 : tensor<f64>, tensor<i64>, tensor<i64>, tensor<f64>
        }
        stablehlo.return %8#3 : tensor<f64>
      }) : (tensor<i32>) -> tensor<f64>
      %6 = stablehlo.multiply %5, %2 : tensor<f64>
      %7 = stablehlo.add %6, %iterArg : tensor<f64>
      stablehlo.return %iterArg, %1, %iterArg_1, %7 : tensor<f64>, tensor<i64>, tensor<i64>, tensor<f64>
    }
    return %0#3 : tensor<f64>
  }
  func.func private @closed_call(%arg0: tensor<f64>, %arg1: tensor<i64>, %arg2: tensor<f64>) -> (tensor<i64>, tensor<f64>) {
    %c = stablehlo.constant dense<1> : tensor<i64>
    %0 = stablehlo.add %arg1, %c : tensor<i64>
    %cst = stablehlo.constant dense<8.000000e+00> : tensor<f64>
    %1 = stablehlo.multiply %arg0, %cst : tensor<f64>
    %2 = stablehlo.convert %arg1 : (tensor<i64>) -> tensor<f64>
    %3 = stablehlo.compare LT, %2, %1, FLOAT : (tensor<f64>, tensor<f64>) -> tensor<i1>
    %4 = stablehlo.convert %3 : (tensor<i1>) -> tensor<i32>
    %5 = "stablehlo.case"(%4) ({
      stablehlo.return %arg2 : tensor<f64>
    }, {
      %cst_0 = stablehlo.constant dense<9.000000e-01> : tensor<f64>
      %6 = stablehlo.multiply %cst_0, %arg2 : tensor<f64>
      %7 = stablehlo.multiply %6, %arg2 : tensor<f64>
      %cst_1 = stablehlo.constant dense<1.000000e-01> : tensor<f64>
      %8 = stablehlo.add %7, %cst_1 : tensor<f64>
      stablehlo.return %8 : tensor<f64>
    }) : (tensor<i32>) -> tensor<f64>
    return %0, %5 : tensor<i64>, tensor<f64>
  }
}
// JAX's forward mode:
// CHECK: out:0 = tensor<f64> 1.145291414{{[0-9e-]*}}
