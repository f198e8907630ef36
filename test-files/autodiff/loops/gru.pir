// RUN: pir-opt --pass=backward %s | FileCheck %s
// A GRU cell: the old state is mixed with a new one.
%n = pd.data {name = "n", shape = [1], dtype = i64} : tensor<1xi64>
%zero = pd.full {shape = [1], value = 0, dtype = i64} : tensor<1xi64>
%one = pd.full {shape = [1], value = 1, dtype = i64} : tensor<1xi64>
%xz = pd.data {name = "xz", shape = [1, 256], dtype = f32} : tensor<1x256xf32>
%xr = pd.data {name = "xr", shape = [1, 256], dtype = f32} : tensor<1x256xf32>
%xc = pd.data {name = "xc", shape = [1, 256], dtype = f32} : tensor<1x256xf32>
%wz = pd.data {name = "wz", shape = [256, 256], dtype = f32} : tensor<256x256xf32>
%wr = pd.data {name = "wr", shape = [256, 256], dtype = f32} : tensor<256x256xf32>
%wc = pd.data {name = "wc", shape = [256, 256], dtype = f32} : tensor<256x256xf32>
%h = pd.data {name = "h", shape = [1, 256], dtype = f32} : tensor<1x256xf32>
%i_end, %h_end = pd.while (%zero, %h) cond (%i: tensor<1xi64>, %h_c: tensor<1x256xf32>) {
  %go = pd.less_than (%i, %n) : tensor<1xi1>
  cf.cond_yield (%go, %i, %h_c)
} body (%i_b: tensor<1xi64>, %h_b: tensor<1x256xf32>) {
  %hz = pd.matmul (%h_b, %wz) : tensor<1x256xf32>
  %z_in = pd.add (%hz, %xz) : tensor<1x256xf32>
  %z = pd.sigmoid (%z_in) : tensor<1x256xf32>
  %hr = pd.matmul (%h_b, %wr) : tensor<1x256xf32>
  %r_in = pd.add (%hr, %xr) : tensor<1x256xf32>
  %r = pd.sigmoid (%r_in) : tensor<1x256xf32>
  %rh = pd.multiply (%r, %h_b) : tensor<1x256xf32>
  %hc = pd.matmul (%rh, %wc) : tensor<1x256xf32>
  %c_in = pd.add (%hc, %xc) : tensor<1x256xf32>
  %c = pd.tanh (%c_in) : tensor<1x256xf32>
  %other = pd.scale (%z) {scale = -1.0, bias = 1.0} : tensor<1x256xf32>
  %old = pd.multiply (%z, %h_b) : tensor<1x256xf32>
  %new = pd.multiply (%other, %c) : tensor<1x256xf32>
  %h_next = pd.add (%old, %new) : tensor<1x256xf32>
  %next = pd.add (%i_b, %one) : tensor<1xi64>
  cf.yield (%next, %h_next)
} : tensor<1xi64>, tensor<1x256xf32>
%sq = pd.square (%h_end) : tensor<1x256xf32>
%loss = pd.sum (%sq) : tensor<f32>
pd.fetch (%loss) {name = "loss"}
// CHECK: pd.while_grad
