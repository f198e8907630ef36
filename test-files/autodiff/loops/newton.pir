// RUN: pir-opt --pass=backward %s | FileCheck %s
// Newton's square root, until it is near enough.
%n = pd.data {name = "n", shape = [1], dtype = i64} : tensor<1xi64>
%zero = pd.full {shape = [1], value = 0, dtype = i64} : tensor<1xi64>
%one = pd.full {shape = [1], value = 1, dtype = i64} : tensor<1xi64>
%x = pd.data {name = "x", shape = [256], dtype = f32} : tensor<256xf32>
%y = pd.data {name = "y", shape = [256], dtype = f32} : tensor<256xf32>
%eps = pd.full {shape = [], value = 1e-12, dtype = f32} : tensor<f32>
%half = pd.full {shape = [], value = 0.5, dtype = f32} : tensor<f32>
%i_end, %y_end = pd.while (%zero, %y) cond (%i: tensor<1xi64>, %y_c: tensor<256xf32>) {
  %yy = pd.square (%y_c) : tensor<256xf32>
  %off = pd.subtract (%yy, %x) : tensor<256xf32>
  %off2 = pd.square (%off) : tensor<256xf32>
  %err = pd.max (%off2) : tensor<f32>
  %far = pd.greater_than (%err, %eps) : tensor<i1>
  %few = pd.less_than (%i, %n) : tensor<1xi1>
  %go = pd.logical_and (%far, %few) : tensor<1xi1>
  cf.cond_yield (%go, %i, %y_c)
} body (%i_b: tensor<1xi64>, %y_b: tensor<256xf32>) {
  %q = pd.divide (%x, %y_b) : tensor<256xf32>
  %s = pd.add (%y_b, %q) : tensor<256xf32>
  %y_next = pd.multiply (%half, %s) : tensor<256xf32>
  %next = pd.add (%i_b, %one) : tensor<1xi64>
  cf.yield (%next, %y_next)
} : tensor<1xi64>, tensor<256xf32>
%sq = pd.square (%y_end) : tensor<256xf32>
%loss = pd.sum (%sq) : tensor<f32>
pd.fetch (%loss) {name = "loss"}
// CHECK: pd.while_grad
