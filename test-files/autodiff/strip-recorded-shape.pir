// A size that `backward` records, and that `remat` then computes again, leaves nothing behind.
// RUN: pir-opt %s -o %t.before
// RUN: pir-opt --pass=backward,remat %s | FileCheck %s
// RUN: pir-opt --pass=backward,remat,strip-backward %s -o %t.after
// RUN: diff %t.before %t.after
%x = pd.data {name = "x", shape = [-1, 3], dtype = f64} : tensor<?x3xf64>
%c = pd.data {name = "c", shape = [], dtype = i1} : tensor<i1>
%r = pd.if (%c) then {
  %v = pd.sin (%x) : tensor<?x3xf64>
  %w = pd.scale (%v) {scale = 3.0} : tensor<?x3xf64>
  %s = pd.sum (%w) : tensor<f64>
  cf.yield (%s)
} else {
  %t = pd.sum (%x) : tensor<f64>
  cf.yield (%t)
} : tensor<f64>
pd.fetch (%r) {name = "r"}
// CHECK: pd.shape {{.*}}recorded = true
