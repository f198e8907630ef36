// A weight in a loop that is run again one iteration at a time: there is no size for all factors of its gradient.
// RUN: pir-opt --pass='jax-vjp{slots=3,segment=4,split=false}' %s | pir-run - --input arg0=[0.5,1,-1] --input arg1=[[0.3,1,0],[0.2,0.5,1],[1,0.1,0.4]] --input arg2=5 --input ct0=[1,-1,0.5] | FileCheck %s
// RUN: pir-opt --pass='jax-vjp{bound=32,split=false}' %s | pir-run - --input arg0=[0.5,1,-1] --input arg1=[[0.3,1,0],[0.2,0.5,1],[1,0.1,0.4]] --input arg2=5 --input ct0=[1,-1,0.5] | FileCheck %s
// RUN: pir-opt --pass='jax-vjp{bound=2,split=false}' %s | pir-run - --input arg0=[0.5,1,-1] --input arg1=[[0.3,1,0],[0.2,0.5,1],[1,0.1,0.4]] --input arg2=5 --input ct0=[1,-1,0.5] | FileCheck %s
// RUN: pir-opt --pass='jax-vjp{bound=32,overflow=nan,split=false}' %s | pir-run - --input arg0=[0.5,1,-1] --input arg1=[[0.3,1,0],[0.2,0.5,1],[1,0.1,0.4]] --input arg2=5 --input ct0=[1,-1,0.5] | FileCheck %s

module @jit_weights attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<3xf64>, %arg1: tensor<3x3xf64>, %arg2: tensor<i64>) -> (tensor<3xf64> {jax.result_info = "result"}) {
    %c = stablehlo.constant dense<0> : tensor<i64>
    %0:5 = stablehlo.while(%iterArg = %arg1, %iterArg_0 = %arg0, %iterArg_1 = %c, %iterArg_2 = %arg2, %iterArg_3 = %arg0) : tensor<3x3xf64>, tensor<3xf64>, tensor<i64>, tensor<i64>, tensor<3xf64>
    cond {
      %1 = stablehlo.compare LT, %iterArg_1, %iterArg_2, SIGNED : (tensor<i64>, tensor<i64>) -> tensor<i1>
      stablehlo.return %1 : tensor<i1>
    } do {
      %c_4 = stablehlo.constant dense<1> : tensor<i64>
      %1 = stablehlo.add %iterArg_1, %c_4 : tensor<i64>
      %2 = stablehlo.while(%iterArg_5 = %iterArg_3) : tensor<3xf64>
      cond {
        %5 = stablehlo.dot_general %iterArg_5, %iterArg_5, contracting_dims = [0] x [0], precision = [DEFAULT, DEFAULT] : (tensor<3xf64>, tensor<3xf64>) -> tensor<f64>
        %cst = stablehlo.constant dense<5.000000e-01> : tensor<f64>
        %6 = stablehlo.compare GT, %5, %cst, FLOAT : (tensor<f64>, tensor<f64>) -> tensor<i1>
        stablehlo.return %6 : tensor<i1>
      } do {
        %5 = stablehlo.sine %iterArg_5 : tensor<3xf64>
        %cst = stablehlo.constant dense<0.69999999999999996> : tensor<f64>
        %6 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f64>) -> tensor<3xf64>
        %7 = stablehlo.multiply %6, %5 : tensor<3xf64>
        stablehlo.return %7 : tensor<3xf64>
      }
      %3 = stablehlo.dot_general %iterArg, %2, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<3x3xf64>, tensor<3xf64>) -> tensor<3xf64>
      %4 = stablehlo.add %3, %iterArg_0 : tensor<3xf64>
      stablehlo.return %iterArg, %iterArg_0, %1, %iterArg_2, %4 : tensor<3x3xf64>, tensor<3xf64>, tensor<i64>, tensor<i64>, tensor<3xf64>
    }
    return %0#4 : tensor<3xf64>
  }
}
// JAX's forward mode:
// CHECK: out:0 = tensor<3xf64> {{\[}}1.091765318{{[0-9e-]*}}, -0.83365506{{[0-9e-]*}}, 0.252809192{{[0-9e-]*}}]
// CHECK: out:1 = tensor<3x3xf64> {{\[}}{{\[}}0.421533386{{[0-9e-]*}}, 0.413934659{{[0-9e-]*}}, -0.33387513{{[0-9e-]*}}], {{\[}}-0.32326826{{[0-9e-]*}}, -0.31711856{{[0-9e-]*}}, 0.254796957{{[0-9e-]*}}], {{\[}}0.098548445{{[0-9e-]*}}, 0.096223244{{[0-9e-]*}}, -0.07759096{{[0-9e-]*}}]]
