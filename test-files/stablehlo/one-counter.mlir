// RUN: pir-opt --pass=jax-vjp{bound=8} %s | FileCheck %s --check-prefix=FWD
// RUN: pir-opt --pass=jax-vjp{bound=8,overflow=nan} %s | FileCheck %s --check-prefix=BWD
// RUN: pir-opt --pass=jax-vjp{bound=8,split=false} %s | pir-run - --input arg0=0.5 --input arg1=1.5 --input arg2=3 --input ct0=1 | FileCheck %s --check-prefix=VALUE
// RUN: pir-opt --pass=jax-vjp{bound=2,split=false} %s | pir-run - --input arg0=0.5 --input arg1=1.5 --input arg2=3 --input ct0=1 | FileCheck %s --check-prefix=VALUE
// RUN: pir-opt --pass=jax-vjp{bound=2,overflow=nan,split=false} %s | pir-run - --input arg0=0.5 --input arg1=1.5 --input arg2=3 --input ct0=1 | FileCheck %s --check-prefix=NAN
// The counter of a loop tells the row to write, so the loop carries no other one, even if another condition ends it too.
// The derivative of tanh reads its result, which is the state that the next iteration starts from, and is not recorded.
func.func public @main(%arg0: tensor<f64>, %arg1: tensor<f64>, %arg2: tensor<i32>) -> tensor<f64> {
  %0 = stablehlo.constant dense<0> : tensor<i32>
  %1:2 = stablehlo.while(%i = %0, %x = %arg0) : tensor<i32>, tensor<f64>
  cond {
    %2 = stablehlo.compare LT, %i, %arg2, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %3 = stablehlo.constant dense<1.0e+03> : tensor<f64>
    %4 = stablehlo.compare LT, %x, %3, FLOAT : (tensor<f64>, tensor<f64>) -> tensor<i1>
    %5 = stablehlo.and %4, %2 : tensor<i1>
    stablehlo.return %5 : tensor<i1>
  } do {
    %2 = stablehlo.constant dense<1> : tensor<i32>
    %3 = stablehlo.add %i, %2 : tensor<i32>
    %4 = stablehlo.multiply %x, %arg1 : tensor<f64>
    %5 = stablehlo.tanh %4 : tensor<f64>
    stablehlo.return %3, %5 : tensor<i32>, tensor<f64>
  }
  return %1#1 : tensor<f64>
}

// FWD: func.func public @main.fwd
// FWD: pd.while (%{{[^,]*}}, %{{[^,]*}}, %{{[^,]*}}) cond (%{{[^:]*}}: tensor<i32>, %{{[^:]*}}: tensor<f64>, %{{[^:]*}}: tensor<9xf64>) {
// FWD: func.func public @main.bwd
// BWD: func.func public @main.bwd
// BWD-NOT: tanh (
// BWD: pd.tanh_grad
// VALUE: out:0 = tensor<f64> 0.32013500478275
// VALUE: out:1 = tensor<f64> 0.51948734252960
// NAN: out:0 = tensor<f64> NaN
