// RUN: pir-opt --pass=backward %s | FileCheck %s
// A loop in a loop: the stack of the inner loop is a local of the outer one.
%n = pd.data {name = "n", shape = [1], dtype = i64} : tensor<1xi64>
%zero = pd.full {shape = [1], value = 0, dtype = i64} : tensor<1xi64>
%one = pd.full {shape = [1], value = 1, dtype = i64} : tensor<1xi64>
%two = pd.full {shape = [1], value = 2, dtype = i64} : tensor<1xi64>
%x = pd.data {name = "x", shape = [4], dtype = f64} : tensor<4xf64>
%y0 = pd.data {name = "y", shape = [4], dtype = f64} : tensor<4xf64>
%i_end, %y_end = pd.while (%zero, %y0) cond (%i: tensor<1xi64>, %y: tensor<4xf64>) {
  %go = pd.less_than (%i, %n) : tensor<1xi1>
  cf.cond_yield (%go, %i, %y)
} body (%i_b: tensor<1xi64>, %y_b: tensor<4xf64>) {
  %m = pd.add (%i_b, %two) : tensor<1xi64>
  %j_end, %z_end = pd.while (%zero, %y_b) cond (%j: tensor<1xi64>, %z: tensor<4xf64>) {
    %more = pd.less_than (%j, %m) : tensor<1xi1>
    cf.cond_yield (%more, %j, %z)
  } body (%j_b: tensor<1xi64>, %z_b: tensor<4xf64>) {
    %p = pd.multiply (%z_b, %x) : tensor<4xf64>
    %s = pd.sin (%p) : tensor<4xf64>
    %a = pd.add (%s, %z_b) : tensor<4xf64>
    %j_next = pd.add (%j_b, %one) : tensor<1xi64>
    cf.yield (%j_next, %a)
  } : tensor<1xi64>, tensor<4xf64>
  %t = pd.tanh (%z_end) : tensor<4xf64>
  %u = pd.multiply (%t, %y_b) : tensor<4xf64>
  %next = pd.add (%i_b, %one) : tensor<1xi64>
  cf.yield (%next, %u)
} : tensor<1xi64>, tensor<4xf64>
%loss = pd.sum (%y_end) : tensor<f64>
pd.fetch (%loss) {name = "loss"}
// CHECK: pd.while_grad
// CHECK: cf.pop_back (%stack) : cf.stack
// CHECK: pd.while_grad
// CHECK: pd.fetch {{.*}} {name = "x_grad"}
