// Gradients are compared in f64, also of an operation that computes with constants of f32.
// RUN: pir-run --load-dialect %S/inputs/narrow.yaml --check-grad %s --input x=rand | FileCheck %s
// CHECK: x {{.*}} ok
%x = pd.data {name = "x", shape = [3], dtype = f32} : tensor<3xf32>
%y = q.half (%x)
%z = pd.tanh (%y) : tensor<3xf32>
pd.fetch (%z) {name = "z"}
