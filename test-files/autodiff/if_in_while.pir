// RUN: pir-opt --pass=backward %s | FileCheck %s
// A branch in a loop: each branch records on a stack of its own, whose handle is recorded with the predicate.
%n = pd.data {name = "n", shape = [1], dtype = i64} : tensor<1xi64>
%zero = pd.full {shape = [1], value = 0, dtype = i64} : tensor<1xi64>
%one = pd.full {shape = [1], value = 1, dtype = i64} : tensor<1xi64>
%x = pd.data {name = "x", shape = [4], dtype = f64} : tensor<4xf64>
%y0 = pd.data {name = "y", shape = [4], dtype = f64} : tensor<4xf64>
%i_end, %y_end = pd.while (%zero, %y0) cond (%i: tensor<1xi64>, %y: tensor<4xf64>) {
  %go = pd.less_than (%i, %n) : tensor<1xi1>
  cf.cond_yield (%go, %i, %y)
} body (%i_b: tensor<1xi64>, %y_b: tensor<4xf64>) {
  %s = pd.sum (%y_b) : tensor<f64>
  %t = pd.full {shape = [], value = 1.0, dtype = f64} : tensor<f64>
  %big = pd.greater_than (%s, %t) : tensor<i1>
  %r = pd.if (%big) then {
    %p = pd.multiply (%y_b, %x) : tensor<4xf64>
    %q = pd.tanh (%p) : tensor<4xf64>
    cf.yield (%q)
  } else {
    %q2 = pd.add (%y_b, %x) : tensor<4xf64>
    cf.yield (%q2)
  } : tensor<4xf64>
  %next = pd.add (%i_b, %one) : tensor<1xi64>
  cf.yield (%next, %r)
} : tensor<1xi64>, tensor<4xf64>
%sq = pd.square (%y_end) : tensor<4xf64>
%loss = pd.sum (%sq) : tensor<f64>
pd.fetch (%loss) {name = "loss"}
// CHECK: [[IF:%stack[_0-9]*]] = pd.if
// CHECK: cf.push_back (%stack, %y_b)
// CHECK: cf.push_back (%stack, %big)
// CHECK: cf.push_back (%stack, [[IF]])
// CHECK: pd.while_grad
// CHECK: [[H:%stack[_0-9]*]] = cf.pop_back (%stack) : cf.stack
// CHECK: [[BIG:%[a-z_0-9]*]] = cf.pop_back (%stack) : tensor<i1>
// CHECK: pd.if_grad ([[BIG]]) then
// CHECK-NEXT: cf.pop_back ([[H]])
// CHECK: else
// CHECK-NOT: cf.pop_back
// CHECK: pd.fetch {{.*}} {name = "x_grad"}
