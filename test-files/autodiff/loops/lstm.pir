// RUN: pir-opt --pass=backward %s | FileCheck %s
// An LSTM cell, all gates from one product.
%n = pd.data {name = "n", shape = [1], dtype = i64} : tensor<1xi64>
%zero = pd.full {shape = [1], value = 0, dtype = i64} : tensor<1xi64>
%one = pd.full {shape = [1], value = 1, dtype = i64} : tensor<1xi64>
%x = pd.data {name = "x", shape = [1, 1024], dtype = f32} : tensor<1x1024xf32>
%w = pd.data {name = "w", shape = [256, 1024], dtype = f32} : tensor<256x1024xf32>
%h = pd.data {name = "h", shape = [1, 256], dtype = f32} : tensor<1x256xf32>
%c = pd.data {name = "c", shape = [1, 256], dtype = f32} : tensor<1x256xf32>
%i_end, %h_end, %c_end = pd.while (%zero, %h, %c) cond (%i: tensor<1xi64>, %h_c: tensor<1x256xf32>, %c_c: tensor<1x256xf32>) {
  %go = pd.less_than (%i, %n) : tensor<1xi1>
  cf.cond_yield (%go, %i, %h_c, %c_c)
} body (%i_b: tensor<1xi64>, %h_b: tensor<1x256xf32>, %c_b: tensor<1x256xf32>) {
  %hw = pd.matmul (%h_b, %w) : tensor<1x1024xf32>
  %gates = pd.add (%hw, %x) : tensor<1x1024xf32>
  %i_in, %f_in, %g_in, %o_in = pd.split_with_num (%gates) {num = 4, axis = 1} : tensor<1x256xf32>, tensor<1x256xf32>, tensor<1x256xf32>, tensor<1x256xf32>
  %in = pd.sigmoid (%i_in) : tensor<1x256xf32>
  %forget = pd.sigmoid (%f_in) : tensor<1x256xf32>
  %cell = pd.tanh (%g_in) : tensor<1x256xf32>
  %out = pd.sigmoid (%o_in) : tensor<1x256xf32>
  %keep = pd.multiply (%forget, %c_b) : tensor<1x256xf32>
  %new = pd.multiply (%in, %cell) : tensor<1x256xf32>
  %c_next = pd.add (%keep, %new) : tensor<1x256xf32>
  %c_tanh = pd.tanh (%c_next) : tensor<1x256xf32>
  %h_next = pd.multiply (%out, %c_tanh) : tensor<1x256xf32>
  %next = pd.add (%i_b, %one) : tensor<1xi64>
  cf.yield (%next, %h_next, %c_next)
} : tensor<1xi64>, tensor<1x256xf32>, tensor<1x256xf32>
%sq = pd.square (%h_end) : tensor<1x256xf32>
%loss = pd.sum (%sq) : tensor<f32>
pd.fetch (%loss) {name = "loss"}
// CHECK: pd.while_grad
