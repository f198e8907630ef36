// With `--precise`, operations on f32 are computed in double precision, and results rounded once: in single precision, the one is lost.
// RUN: pir-run %s | FileCheck %s --check-prefix=SINGLE
// RUN: pir-run --precise %s | FileCheck %s --check-prefix=DOUBLE
// RUN: pir-opt --pass=lower-to-dataflow %s | pir-run --precise --dataflow - | FileCheck %s --check-prefix=DOUBLE
// RUN: not pir-run --precise --eager-grad %s 2>&1 | FileCheck %s --check-prefix=EAGER
// SINGLE: out = tensor<1x1xf32> {{\[\[}}0{{\]\]}}
// DOUBLE: out = tensor<1x1xf32> {{\[\[}}1{{\]\]}}
// EAGER: cannot be used with
%x = pd.assign_value {shape = [1, 3], values = [1.0e8, 1.0, -1.0e8], dtype = f32} : tensor<1x3xf32>
%y = pd.full {shape = [3, 1], value = 1.0, dtype = f32} : tensor<3x1xf32>
%z = pd.matmul (%x, %y) : tensor<1x1xf32>
pd.fetch (%z) {name = "out"}
