// RUN: pir-opt --pass=backward %s | FileCheck %s
// An LSTM cell: c and h are both yielded by the body and used in it, which is where gradients get lost elsewhere.
%n = pd.data {name = "n", shape = [1], dtype = i64} : tensor<1xi64>
%zero = pd.full {shape = [1], value = 0, dtype = i64} : tensor<1xi64>
%one = pd.full {shape = [1], value = 1, dtype = i64} : tensor<1xi64>
%x = pd.data {name = "x", shape = [2, 3], dtype = f64} : tensor<2x3xf64>
%wx = pd.data {name = "wx", shape = [3, 12], dtype = f64} : tensor<3x12xf64>
%wh = pd.data {name = "wh", shape = [3, 12], dtype = f64} : tensor<3x12xf64>
%h0 = pd.data {name = "h", shape = [2, 3], dtype = f64} : tensor<2x3xf64>
%c0 = pd.data {name = "c", shape = [2, 3], dtype = f64} : tensor<2x3xf64>
%xw = pd.matmul (%x, %wx) : tensor<2x12xf64>
%i_end, %h_end, %c_end = pd.while (%zero, %h0, %c0) cond (%i: tensor<1xi64>, %h: tensor<2x3xf64>, %c: tensor<2x3xf64>) {
  %go = pd.less_than (%i, %n) : tensor<1xi1>
  cf.cond_yield (%go, %i, %h, %c)
} body (%i_b: tensor<1xi64>, %h_b: tensor<2x3xf64>, %c_b: tensor<2x3xf64>) {
  %hw = pd.matmul (%h_b, %wh) : tensor<2x12xf64>
  %gates = pd.add (%xw, %hw) : tensor<2x12xf64>
  %gi, %gf, %gg, %go_b = pd.split_with_num (%gates) {num = 4, axis = 1} : tensor<2x3xf64>, tensor<2x3xf64>, tensor<2x3xf64>, tensor<2x3xf64>
  %in = pd.sigmoid (%gi) : tensor<2x3xf64>
  %forget = pd.sigmoid (%gf) : tensor<2x3xf64>
  %cell = pd.tanh (%gg) : tensor<2x3xf64>
  %out = pd.sigmoid (%go_b) : tensor<2x3xf64>
  %keep = pd.multiply (%forget, %c_b) : tensor<2x3xf64>
  %new = pd.multiply (%in, %cell) : tensor<2x3xf64>
  %c_next = pd.add (%keep, %new) : tensor<2x3xf64>
  %c_tanh = pd.tanh (%c_next) : tensor<2x3xf64>
  %h_next = pd.multiply (%out, %c_tanh) : tensor<2x3xf64>
  %next = pd.add (%i_b, %one) : tensor<1xi64>
  cf.yield (%next, %h_next, %c_next)
} : tensor<1xi64>, tensor<2x3xf64>, tensor<2x3xf64>
%hc = pd.multiply (%h_end, %c_end) : tensor<2x3xf64>
%sum = pd.add (%hc, %h_end) : tensor<2x3xf64>
%loss = pd.sum (%sum) : tensor<f64>
pd.fetch (%loss) {name = "loss"}
// CHECK: pd.while_grad
// CHECK: pd.fetch {{.*}} {name = "c_grad"}
