// RUN: pir-run %s | FileCheck %s --implicit-check-not=y
// Where something is done at top level, that is the program.
%seen = pd.full {shape = [2], value = 1.0, dtype = f32} : tensor<2xf32>
pd.fetch (%seen) {name = "seen"}
// CHECK: seen = tensor<2xf32> [1, 1]
builtin.module @m {
  %x = pd.full {shape = [2], value = 2.0, dtype = f32} : tensor<2xf32>
  pd.fetch (%x) {name = "y"}
}
