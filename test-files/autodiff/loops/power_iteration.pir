// RUN: pir-opt --pass=backward %s | FileCheck %s
// Power iteration: a vector of length one, times a matrix.
%n = pd.data {name = "n", shape = [1], dtype = i64} : tensor<1xi64>
%zero = pd.full {shape = [1], value = 0, dtype = i64} : tensor<1xi64>
%one = pd.full {shape = [1], value = 1, dtype = i64} : tensor<1xi64>
%m = pd.data {name = "m", shape = [256, 256], dtype = f32} : tensor<256x256xf32>
%v = pd.data {name = "v", shape = [256, 1], dtype = f32} : tensor<256x1xf32>
%i_end, %v_end = pd.while (%zero, %v) cond (%i: tensor<1xi64>, %v_c: tensor<256x1xf32>) {
  %go = pd.less_than (%i, %n) : tensor<1xi1>
  cf.cond_yield (%go, %i, %v_c)
} body (%i_b: tensor<1xi64>, %v_b: tensor<256x1xf32>) {
  %vv = pd.multiply (%v_b, %v_b) : tensor<256x1xf32>
  %ss = pd.sum (%vv) : tensor<f32>
  %norm = pd.sqrt (%ss) : tensor<f32>
  %unit = pd.divide (%v_b, %norm) : tensor<256x1xf32>
  %mv = pd.matmul (%m, %unit) : tensor<256x1xf32>
  %next = pd.add (%i_b, %one) : tensor<1xi64>
  cf.yield (%next, %mv)
} : tensor<1xi64>, tensor<256x1xf32>
%sq = pd.square (%v_end) : tensor<256x1xf32>
%loss = pd.sum (%sq) : tensor<f32>
pd.fetch (%loss) {name = "loss"}
// CHECK: pd.while_grad
