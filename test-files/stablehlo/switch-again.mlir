// A branch in a branch of a loop: the size of its stack includes what is pushed after the branches.
// RUN: pir-opt --pass='jax-vjp{slots=3,segment=2,split=false}' %s | pir-run - --input arg0=[0.5,-0.3,0.7,0.2] --input arg1=5 --input ct0=[1,-0.5,0.3,0.2] | FileCheck %s
// RUN: pir-opt --pass='jax-vjp{bound=64,split=false}' %s | pir-run - --input arg0=[0.5,-0.3,0.7,0.2] --input arg1=5 --input ct0=[1,-0.5,0.3,0.2] | FileCheck %s
// RUN: pir-opt --pass='jax-vjp{bound=3,split=false}' %s | pir-run - --input arg0=[0.5,-0.3,0.7,0.2] --input arg1=5 --input ct0=[1,-0.5,0.3,0.2] | FileCheck %s
// RUN: pir-opt --pass='jax-vjp{bound=64,overflow=nan,split=false}' %s | pir-run - --input arg0=[0.5,-0.3,0.7,0.2] --input arg1=5 --input ct0=[1,-0.5,0.3,0.2] | FileCheck %s

module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<4xf64>, %arg1: tensor<i64>) -> (tensor<4xf64> {jax.result_info = "result"}) {
    %cst = stablehlo.constant dense<1.000000e+00> : tensor<f64>
    %0 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f64>) -> tensor<4xf64>
    %1 = stablehlo.multiply %arg0, %0 : tensor<4xf64>
    %c = stablehlo.constant dense<0> : tensor<i64>
    %c_0 = stablehlo.constant dense<2> : tensor<i64>
    %2:4 = stablehlo.while(%iterArg = %arg1, %iterArg_1 = %c, %iterArg_2 = %c_0, %iterArg_3 = %1) : tensor<i64>, tensor<i64>, tensor<i64>, tensor<4xf64>
    cond {
      %3 = stablehlo.compare LT, %iterArg_1, %iterArg, SIGNED : (tensor<i64>, tensor<i64>) -> tensor<i1>
      stablehlo.return %3 : tensor<i1>
    } do {
      %c_4 = stablehlo.constant dense<1> : tensor<i64>
      %3 = stablehlo.add %iterArg_1, %c_4 : tensor<i64>
      %c_5 = stablehlo.constant dense<3> : tensor<i64>
      %4 = func.call @remainder(%iterArg_1, %c_5) : (tensor<i64>, tensor<i64>) -> tensor<i64>
      %5 = stablehlo.convert %4 : (tensor<i64>) -> tensor<i32>
      %c_6 = stablehlo.constant dense<0> : tensor<i32>
      %c_7 = stablehlo.constant dense<2> : tensor<i32>
      %6 = stablehlo.clamp %c_6, %5, %c_7 : tensor<i32>
      %7:2 = "stablehlo.case"(%6) ({
        %c_8 = stablehlo.constant dense<1> : tensor<i64>
        %8 = stablehlo.add %iterArg_2, %c_8 : tensor<i64>
        stablehlo.return %8, %iterArg_3 : tensor<i64>, tensor<4xf64>
      }, {
        %c_8 = stablehlo.constant dense<1> : tensor<i64>
        %8 = stablehlo.subtract %iterArg_2, %c_8 : tensor<i64>
        %c_9 = stablehlo.constant dense<1> : tensor<i64>
        %9 = stablehlo.subtract %iterArg_2, %c_9 : tensor<i64>
        %c_10 = stablehlo.constant dense<0> : tensor<i64>
        %10 = stablehlo.compare LT, %9, %c_10, SIGNED : (tensor<i64>, tensor<i64>) -> tensor<i1>
        %11 = stablehlo.convert %9 : tensor<i64>
        %c_11 = stablehlo.constant dense<4> : tensor<i64>
        %12 = stablehlo.add %11, %c_11 : tensor<i64>
        %13 = stablehlo.select %10, %12, %9 : tensor<i1>, tensor<i64>
        %14 = stablehlo.dynamic_slice %iterArg_3, %13, sizes = [1] : (tensor<4xf64>, tensor<i64>) -> tensor<1xf64>
        %15 = stablehlo.reshape %14 : (tensor<1xf64>) -> tensor<f64>
        %16 = stablehlo.broadcast_in_dim %15, dims = [] : (tensor<f64>) -> tensor<4xf64>
        %17 = stablehlo.multiply %iterArg_3, %16 : tensor<4xf64>
        stablehlo.return %8, %17 : tensor<i64>, tensor<4xf64>
      }, {
        %c_8 = stablehlo.constant dense<1> : tensor<i64>
        %8 = stablehlo.subtract %iterArg_2, %c_8 : tensor<i64>
        stablehlo.return %8, %iterArg_3 : tensor<i64>, tensor<4xf64>
      }) : (tensor<i32>) -> (tensor<i64>, tensor<4xf64>)
      stablehlo.return %iterArg, %3, %7#0, %7#1 : tensor<i64>, tensor<i64>, tensor<i64>, tensor<4xf64>
    }
    return %2#3 : tensor<4xf64>
  }
  func.func private @remainder(%arg0: tensor<i64>, %arg1: tensor<i64>) -> tensor<i64> {
    %c = stablehlo.constant dense<0> : tensor<i64>
    %0 = stablehlo.compare EQ, %arg1, %c, SIGNED : (tensor<i64>, tensor<i64>) -> tensor<i1>
    %c_0 = stablehlo.constant dense<1> : tensor<i64>
    %1 = call @_where(%0, %c_0, %arg1) : (tensor<i1>, tensor<i64>, tensor<i64>) -> tensor<i64>
    %2 = stablehlo.remainder %arg0, %1 : tensor<i64>
    %c_1 = stablehlo.constant dense<0> : tensor<i64>
    %3 = stablehlo.compare NE, %2, %c_1, SIGNED : (tensor<i64>, tensor<i64>) -> tensor<i1>
    %c_2 = stablehlo.constant dense<0> : tensor<i64>
    %4 = stablehlo.compare LT, %2, %c_2, SIGNED : (tensor<i64>, tensor<i64>) -> tensor<i1>
    %c_3 = stablehlo.constant dense<0> : tensor<i64>
    %5 = stablehlo.compare LT, %1, %c_3, SIGNED : (tensor<i64>, tensor<i64>) -> tensor<i1>
    %6 = stablehlo.compare NE, %4, %5, UNSIGNED : (tensor<i1>, tensor<i1>) -> tensor<i1>
    %7 = stablehlo.and %6, %3 : tensor<i1>
    %8 = stablehlo.add %2, %1 : tensor<i64>
    %9 = stablehlo.select %7, %8, %2 : tensor<i1>, tensor<i64>
    return %9 : tensor<i64>
  }
  func.func private @_where(%arg0: tensor<i1>, %arg1: tensor<i64>, %arg2: tensor<i64>) -> tensor<i64> {
    %0 = stablehlo.select %arg0, %arg1, %arg2 : tensor<i1>, tensor<i64>
    return %0 : tensor<i64>
  }
}

// JAX's forward mode:
// CHECK: out:0 = tensor<4xf64> {{\[}}-0.14{{[0-9]*}}, 0.514{{[0-9]*}}, -0.42{{[0-9]*}}, -0.029{{[0-9]*}}]
