// RUN: pir-opt --pass=backward %s | FileCheck %s
// A GRU cell: the old state is mixed with a new one.
%n = pd.data {name = "n", shape = [1], dtype = i64} : tensor<1xi64>
%zero = pd.full {shape = [1], value = 0, dtype = i64} : tensor<1xi64>
%one = pd.full {shape = [1], value = 1, dtype = i64} : tensor<1xi64>
%x = pd.data {name = "x", shape = [2, 3], dtype = f64} : tensor<2x3xf64>
%wz = pd.data {name = "wz", shape = [3, 3], dtype = f64} : tensor<3x3xf64>
%wr = pd.data {name = "wr", shape = [3, 3], dtype = f64} : tensor<3x3xf64>
%wc = pd.data {name = "wc", shape = [3, 3], dtype = f64} : tensor<3x3xf64>
%h0 = pd.data {name = "h", shape = [2, 3], dtype = f64} : tensor<2x3xf64>
%i_end, %h_end = pd.while (%zero, %h0) cond (%i: tensor<1xi64>, %h: tensor<2x3xf64>) {
  %go = pd.less_than (%i, %n) : tensor<1xi1>
  cf.cond_yield (%go, %i, %h)
} body (%i_b: tensor<1xi64>, %h_b: tensor<2x3xf64>) {
  %hz = pd.matmul (%h_b, %wz) : tensor<2x3xf64>
  %z_in = pd.add (%hz, %x) : tensor<2x3xf64>
  %z = pd.sigmoid (%z_in) : tensor<2x3xf64>
  %hr = pd.matmul (%h_b, %wr) : tensor<2x3xf64>
  %r_in = pd.add (%hr, %x) : tensor<2x3xf64>
  %r = pd.sigmoid (%r_in) : tensor<2x3xf64>
  %rh = pd.multiply (%r, %h_b) : tensor<2x3xf64>
  %hc = pd.matmul (%rh, %wc) : tensor<2x3xf64>
  %c_in = pd.add (%hc, %x) : tensor<2x3xf64>
  %c = pd.tanh (%c_in) : tensor<2x3xf64>
  %diff = pd.subtract (%h_b, %c) : tensor<2x3xf64>
  %mix = pd.multiply (%z, %diff) : tensor<2x3xf64>
  %h_next = pd.add (%mix, %c) : tensor<2x3xf64>
  %next = pd.add (%i_b, %one) : tensor<1xi64>
  cf.yield (%next, %h_next)
} : tensor<1xi64>, tensor<2x3xf64>
%loss = pd.sum (%h_end) : tensor<f64>
pd.fetch (%loss) {name = "loss"}
// CHECK: pd.while_grad
// CHECK: pd.fetch {{.*}} {name = "h_grad"}
