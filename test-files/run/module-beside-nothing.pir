// RUN: pir-run %s --input x=ones | FileCheck %s
// RUN: pir-opt --pass=dce %s | pir-run - --input x=ones | FileCheck %s
// What is beside the only module does nothing, and passes remove it: the module is run before that as after it.
// CHECK: y = tensor<2xf32> [1, 1]
%dead = pd.full {shape = [2], value = 1.0, dtype = f32} : tensor<2xf32>
df.graph {
}
builtin.module @m {
  %x = pd.data {name = "x", shape = [2], dtype = f32} : tensor<2xf32>
  pd.fetch (%x) {name = "y"}
}
