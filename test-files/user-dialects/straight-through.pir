// A `vjp` that is not the derivative of what is computed is what `backward` takes, and the eager engine.
// RUN: pir-run --load-dialect %S/inputs/my.yaml --eager-grad %s --input 'x=[0.4, 1.6]' | FileCheck %s
// RUN: pir-opt --load-dialect %S/inputs/my.yaml --pass=backward %s | pir-run --load-dialect %S/inputs/my.yaml - --input 'x=[0.4, 1.6]' | FileCheck %s
// CHECK: y = tensor<2xf64> [0, 6]
// CHECK-NEXT: x_grad = tensor<2xf64> [3, 3]
%x = pd.data {name = "x", shape = [2], dtype = f64} : tensor<2xf64>
%r = my.ste_round (%x)
%y = pd.scale (%r) {scale = 3.0} : tensor<2xf64>
pd.fetch (%y) {name = "y"}
