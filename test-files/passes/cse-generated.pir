// RUN: pir-opt --pass=cse %s | FileCheck %s
// NOTE: checks below are generated; regenerate with BLESS=1
// CHECK: // Two of the same are computed once.
// CHECK-NEXT: %x = pd.data {name = "x", shape = [4], dtype = f32} : tensor<4xf32>
// CHECK-NEXT: %y = pd.tanh (%x) : tensor<4xf32>
// CHECK-NEXT: pd.fetch (%y) {name = "z"}
// Two of the same are computed once.
%x = pd.data {name = "x", shape = [4], dtype = f32} : tensor<4xf32>
%y = pd.tanh (%x) : tensor<4xf32>
%z = pd.tanh (%x) : tensor<4xf32>
pd.fetch (%z) {name = "z"}
