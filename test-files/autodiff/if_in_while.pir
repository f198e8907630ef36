// RUN: pir-opt --pass=backward %s | FileCheck %s
// A branch in a loop. What the first branch yields is what the loop yields, which the dual knows from the iteration
// behind: no stack of the branch's own is left. The predicate is recorded.
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
// CHECK: %r = pd.if (%big) then {
// CHECK: cf.push_back (%stack, %y_b)
// CHECK-NEXT: cf.push_back (%stack, %big)
// CHECK-NEXT: cf.yield
// CHECK: pd.while_grad ({{.*}}, %y_end)
// CHECK: body ({{.*}}, %r: tensor<4xf64>) {
// CHECK-NEXT: [[BIG:%[a-z_0-9]*]] = cf.pop_back (%stack) : tensor<i1>
// CHECK-NEXT: [[Y:%[a-z_0-9]*]] = cf.pop_back (%stack) : tensor<4xf64>
// CHECK: pd.if_grad ([[BIG]]) then
// CHECK-NEXT: pd.tanh_grad (%r
// CHECK-NOT: cf.pop_back
// CHECK: cf.yield ({{.*}}, [[Y]])
// CHECK: pd.fetch {{.*}} {name = "x_grad"}
