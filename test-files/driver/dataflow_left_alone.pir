// RUN: pir-opt --pass=canonicalize,cse,dce,licm,sink %s | FileCheck %s
// RUN: pir-opt -O2 %s | FileCheck %s
// What a graph says about order is in its edges: passes for blocks leave it alone.

// CHECK: df.graph {
df.graph {
  // CHECK-NEXT: %sum = pd.add (%later, %later) : tensor<f32>
  %sum = pd.add (%later, %later) : tensor<f32>
  // CHECK-NEXT: %later = pd.full
  %later = pd.full {shape = [], value = 1, dtype = f32} : tensor<f32>
  // CHECK-NEXT: %same = pd.full
  %same = pd.full {shape = [], value = 1, dtype = f32} : tensor<f32>
  // CHECK-NEXT: %after = df.no_op () : df.control
  %after = df.no_op () : df.control
  // CHECK-NEXT: df.control (%same, %after)
  df.control (%same, %after)
  // CHECK-NEXT: pd.fetch (%sum) {name = "sum"}
  pd.fetch (%sum) {name = "sum"}
// CHECK-NEXT: }
}
