// What PaddlePaddle has an attribute for and is computed here: it is written as an operation that takes it, or refused.
//
// RUN: pir-opt --emit=paddle-json %s | pir-opt - | FileCheck %s
// CHECK: pd.elementwise_pow (%x, %k) : tensor<4xf32>
// CHECK: [[S:%.*]] = pd.scale (%x, %k) : tensor<4xf32>
// CHECK-NEXT: pd.add ([[S]], %b) : tensor<4xf32>
// CHECK: [[T:%.*]] = pd.scale (%x) {scale = 2.0} : tensor<4xf32>
// CHECK-NEXT: pd.add ([[T]], %b) : tensor<4xf32>
// CHECK: pd.full {shape = [1, 0, 8], value = 0.0, dtype = f32} : tensor<1x?x8xf32>
%x = pd.data {name = "x", shape = [4], dtype = f32} : tensor<4xf32>
%k = pd.data {name = "k", shape = [1], dtype = f32} : tensor<1xf32>
%b = pd.data {name = "b", shape = [1], dtype = f32} : tensor<1xf32>
%p = pd.pow (%x, %k) : tensor<4xf32>
%s = pd.scale (%x, %k, %b) : tensor<4xf32>
%t = pd.scale (%x, %b) {scale = 2.0} : tensor<4xf32>
%e = pd.full {shape = [1, 0, 8], value = 0.0, dtype = f32} : tensor<1x?x8xf32>
pd.fetch (%p) {name = "p"}
pd.fetch (%s) {name = "s"}
pd.fetch (%t) {name = "t"}
pd.fetch (%e) {name = "e"}
