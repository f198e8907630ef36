// RUN: pir-opt --pass=partition{devices=2} %s | FileCheck %s
// RUN: pir-opt --pass=place{devices=2},partition{devices=2} %s | FileCheck %s
// RUN: pir-opt --pass=partition{devices=1} %s | FileCheck %s --check-prefix=ONE
// Nothing is placed but one node: the two halves have to do with each other through one small value.

// ONE: df.graph {device = 0}
// ONE-NOT: df.send
// ONE-NOT: df.graph

df.graph {
  %x = pd.data {name = "x", shape = [64, 64], dtype = f32} : tensor<64x64xf32>
  %x1 = pd.matmul (%x, %x) : tensor<64x64xf32>
  %x2 = pd.matmul (%x1, %x) : tensor<64x64xf32>
  %x3 = pd.matmul (%x2, %x1) : tensor<64x64xf32>
  %sum = pd.sum (%x3) : tensor<f32>
  %y = pd.data {name = "y", shape = [64, 64], dtype = f32} : tensor<64x64xf32>
  %y1 = pd.matmul (%y, %y) : tensor<64x64xf32>
  %y2 = pd.matmul (%y1, %y) : tensor<64x64xf32>
  %y3 = pd.matmul (%y2, %y1) : tensor<64x64xf32>
  %scaled = pd.multiply (%y3, %sum) : tensor<64x64xf32>
  pd.fetch (%scaled) {name = "scaled", device = 0}
}

// NOTE: checks below are generated; regenerate with BLESS=1
// CHECK: // Nothing is placed but one node: the two halves have to do with each other through one small value.
// CHECK-NEXT: df.graph {device = 0} {
// CHECK-NEXT:   %y = pd.data {name = "y", shape = [64, 64], dtype = f32} : tensor<64x64xf32>
// CHECK-NEXT:   %y1 = pd.matmul (%y, %y) : tensor<64x64xf32>
// CHECK-NEXT:   %y2 = pd.matmul (%y1, %y) : tensor<64x64xf32>
// CHECK-NEXT:   %y3 = pd.matmul (%y2, %y1) : tensor<64x64xf32>
// CHECK-NEXT:   %sum = df.recv {key = "sum_0", from = 1, to = 0} : tensor<f32>
// CHECK-NEXT:   %scaled = pd.multiply (%y3, %sum) : tensor<64x64xf32>
// CHECK-NEXT:   pd.fetch (%scaled) {name = "scaled"}
// CHECK-NEXT: }
// CHECK-NEXT: df.graph {device = 1} {
// CHECK-NEXT:   %x = pd.data {name = "x", shape = [64, 64], dtype = f32} : tensor<64x64xf32>
// CHECK-NEXT:   %x1 = pd.matmul (%x, %x) : tensor<64x64xf32>
// CHECK-NEXT:   %x2 = pd.matmul (%x1, %x) : tensor<64x64xf32>
// CHECK-NEXT:   %x3 = pd.matmul (%x2, %x1) : tensor<64x64xf32>
// CHECK-NEXT:   %sum = pd.sum (%x3) : tensor<f32>
// CHECK-NEXT:   %sent = df.send (%sum) {key = "sum_0", from = 1, to = 0} : df.control
// CHECK-NEXT: }
