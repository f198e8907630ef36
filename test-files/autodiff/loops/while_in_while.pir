// RUN: pir-opt --pass=backward %s | FileCheck %s
// A loop in a loop.
%n = pd.data {name = "n", shape = [1], dtype = i64} : tensor<1xi64>
%zero = pd.full {shape = [1], value = 0, dtype = i64} : tensor<1xi64>
%one = pd.full {shape = [1], value = 1, dtype = i64} : tensor<1xi64>
%two = pd.full {shape = [1], value = 2, dtype = i64} : tensor<1xi64>
%x = pd.data {name = "x", shape = [256], dtype = f32} : tensor<256xf32>
%y = pd.data {name = "y", shape = [256], dtype = f32} : tensor<256xf32>
%i_end, %y_end = pd.while (%zero, %y) cond (%i: tensor<1xi64>, %y_c: tensor<256xf32>) {
  %go = pd.less_than (%i, %n) : tensor<1xi1>
  cf.cond_yield (%go, %i, %y_c)
} body (%i_b: tensor<1xi64>, %y_b: tensor<256xf32>) {
  %m = pd.add (%i_b, %two) : tensor<1xi64>
  %j_end, %z_end = pd.while (%zero, %y_b) cond (%j: tensor<1xi64>, %z: tensor<256xf32>) {
    %more = pd.less_than (%j, %m) : tensor<1xi1>
    cf.cond_yield (%more, %j, %z)
  } body (%j_b: tensor<1xi64>, %z_b: tensor<256xf32>) {
    %p = pd.multiply (%z_b, %x) : tensor<256xf32>
    %s = pd.sin (%p) : tensor<256xf32>
    %a = pd.add (%s, %z_b) : tensor<256xf32>
    %j_next = pd.add (%j_b, %one) : tensor<1xi64>
    cf.yield (%j_next, %a)
  } : tensor<1xi64>, tensor<256xf32>
  %y_next = pd.scale (%z_end) {scale = 0.5} : tensor<256xf32>
  %next = pd.add (%i_b, %one) : tensor<1xi64>
  cf.yield (%next, %y_next)
} : tensor<1xi64>, tensor<256xf32>
%sq = pd.square (%y_end) : tensor<256xf32>
%loss = pd.sum (%sq) : tensor<f32>
pd.fetch (%loss) {name = "loss"}
// CHECK: pd.while_grad
