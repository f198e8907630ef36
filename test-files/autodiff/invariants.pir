// RUN: pir-opt --pass=backward %s | FileCheck %s
// A body full of invariants: none of them is recorded, they are computed once more in front of the dual.
%n = pd.data {name = "n", shape = [1], dtype = i64} : tensor<1xi64>
%zero = pd.full {shape = [1], value = 0, dtype = i64} : tensor<1xi64>
%one = pd.full {shape = [1], value = 1, dtype = i64} : tensor<1xi64>
%x = pd.data {name = "x", shape = [4], dtype = f64} : tensor<4xf64>
%w = pd.data {name = "w", shape = [4], dtype = f64} : tensor<4xf64>
%i_end, %y_end = pd.while (%zero, %x) cond (%i: tensor<1xi64>, %y: tensor<4xf64>) {
  %go = pd.less_than (%i, %n) : tensor<1xi1>
  cf.cond_yield (%go, %i, %y)
} body (%i_b: tensor<1xi64>, %y_b: tensor<4xf64>) {
  %e = pd.exp (%w) : tensor<4xf64>
  %s = pd.sigmoid (%e) : tensor<4xf64>
  %c = pd.full {shape = [4], value = 0.25, dtype = f64} : tensor<4xf64>
  %k = pd.multiply (%s, %c) : tensor<4xf64>
  %p = pd.multiply (%y_b, %k) : tensor<4xf64>
  %t = pd.tanh (%p) : tensor<4xf64>
  %next = pd.add (%i_b, %one) : tensor<1xi64>
  cf.yield (%next, %t)
} : tensor<1xi64>, tensor<4xf64>
%loss = pd.sum (%y_end) : tensor<f64>
pd.fetch (%loss) {name = "loss"}
// CHECK: cf.push_back (%stack, %y_b)
// CHECK-NOT: cf.push_back
// CHECK: pd.exp
// CHECK: pd.while_grad
// CHECK-NOT: pd.exp
// CHECK: pd.fetch {{.*}} {name = "w_grad"}
