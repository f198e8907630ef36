// RUN: pir-opt %s | FileCheck %s
// RUN: pir-opt %s | pir-opt - | FileCheck %s
// Blocks at top level, where nothing is indented.
// CHECK:      pd.branch ^next(%x)
// CHECK-NEXT: ^next(%y: tensor<f32>):
// CHECK-NEXT: pd.fetch (%y)
%x = pd.data {name = "x", shape = [], dtype = f32} : tensor<f32>
pd.branch ^next(%x)
^next(%y: tensor<f32>):
pd.fetch (%y) {name = "y"}
pd.return ()
