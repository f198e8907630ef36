// RUN: pir-opt --pass=backward %s | FileCheck %s
// A recurrent network: h = tanh(h·w + x).
%n = pd.data {name = "n", shape = [1], dtype = i64} : tensor<1xi64>
%zero = pd.full {shape = [1], value = 0, dtype = i64} : tensor<1xi64>
%one = pd.full {shape = [1], value = 1, dtype = i64} : tensor<1xi64>
%x = pd.data {name = "x", shape = [1, 256], dtype = f32} : tensor<1x256xf32>
%w = pd.data {name = "w", shape = [256, 256], dtype = f32} : tensor<256x256xf32>
%h = pd.data {name = "h", shape = [1, 256], dtype = f32} : tensor<1x256xf32>
%i_end, %h_end = pd.while (%zero, %h) cond (%i: tensor<1xi64>, %h_c: tensor<1x256xf32>) {
  %go = pd.less_than (%i, %n) : tensor<1xi1>
  cf.cond_yield (%go, %i, %h_c)
} body (%i_b: tensor<1xi64>, %h_b: tensor<1x256xf32>) {
  %p = pd.matmul (%h_b, %w) : tensor<1x256xf32>
  %s = pd.add (%p, %x) : tensor<1x256xf32>
  %t = pd.tanh (%s) : tensor<1x256xf32>
  %next = pd.add (%i_b, %one) : tensor<1xi64>
  cf.yield (%next, %t)
} : tensor<1xi64>, tensor<1x256xf32>
%sq = pd.square (%h_end) : tensor<1x256xf32>
%loss = pd.sum (%sq) : tensor<f32>
pd.fetch (%loss) {name = "loss"}
// CHECK: pd.while_grad
