// RUN: pir-opt --pass=backward %s | FileCheck %s
// A body full of what does not change.
%n = pd.data {name = "n", shape = [1], dtype = i64} : tensor<1xi64>
%zero = pd.full {shape = [1], value = 0, dtype = i64} : tensor<1xi64>
%one = pd.full {shape = [1], value = 1, dtype = i64} : tensor<1xi64>
%x = pd.data {name = "x", shape = [256], dtype = f32} : tensor<256xf32>
%w = pd.data {name = "w", shape = [256], dtype = f32} : tensor<256xf32>
%i_end, %y_end = pd.while (%zero, %x) cond (%i: tensor<1xi64>, %y: tensor<256xf32>) {
  %go = pd.less_than (%i, %n) : tensor<1xi1>
  cf.cond_yield (%go, %i, %y)
} body (%i_b: tensor<1xi64>, %y_b: tensor<256xf32>) {
  %e = pd.exp (%w) : tensor<256xf32>
  %s = pd.sigmoid (%e) : tensor<256xf32>
  %c = pd.full {shape = [256], value = 0.25, dtype = f32} : tensor<256xf32>
  %k = pd.multiply (%s, %c) : tensor<256xf32>
  %l = pd.add (%k, %e) : tensor<256xf32>
  %p = pd.multiply (%y_b, %l) : tensor<256xf32>
  %t = pd.tanh (%p) : tensor<256xf32>
  %next = pd.add (%i_b, %one) : tensor<1xi64>
  cf.yield (%next, %t)
} : tensor<1xi64>, tensor<256xf32>
%sq = pd.square (%y_end) : tensor<256xf32>
%loss = pd.sum (%sq) : tensor<f32>
pd.fetch (%loss) {name = "loss"}
// CHECK: pd.while_grad
