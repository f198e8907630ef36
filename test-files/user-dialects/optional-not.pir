// RUN: not pir-opt --load-dialect %S/inputs/optional.yaml %s 2>&1 | FileCheck %s
%x = pd.data {name = "x", shape = [], dtype = f64} : tensor<f64>
// CHECK: optional-not.pir:4:6: error: {{.*}}its row has no `computes without bias`
%a = my.affine (%x, %x) {absent_operands = [1]}
pd.fetch (%a) {name = "a"}
