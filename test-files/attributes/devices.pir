// RUN: pir-opt --pass='lower-to-dataflow,place{devices=2}' %s | pir-opt --pass=partition - | FileCheck %s
// RUN: pir-opt --pass='lower-to-dataflow,place{devices=2}' %s | pir-opt --print-generic - | pir-opt --pass=partition - | FileCheck %s

// The marks that `place` sets are read by `partition` in another process.
// CHECK: df.graph {device = 0} {
// CHECK: df.graph {device = 1} {
%x = pd.data {name = "x", shape = [4], dtype = f32} : tensor<4xf32>
%a = pd.tanh (%x) {device = 1} : tensor<4xf32>
%b = pd.exp (%x) {device = 0} : tensor<4xf32>
%c = pd.add (%a, %b) : tensor<4xf32>
pd.fetch (%c) {name = "c"}
