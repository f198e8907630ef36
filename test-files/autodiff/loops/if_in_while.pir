// RUN: pir-opt --pass=backward %s | FileCheck %s
// A branch in a loop: every other step is not linear.
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
  %half = pd.remainder (%i_b, %two) : tensor<1xi64>
  %even = pd.equal (%half, %zero) : tensor<1xi1>
  %r = pd.if (%even) then {
    %p = pd.multiply (%y_b, %x) : tensor<256xf32>
    %q = pd.tanh (%p) : tensor<256xf32>
    %q2 = pd.add (%q, %y_b) : tensor<256xf32>
    cf.yield (%q2)
  } else {
    %q = pd.add (%y_b, %x) : tensor<256xf32>
    cf.yield (%q)
  } : tensor<256xf32>
  %next = pd.add (%i_b, %one) : tensor<1xi64>
  cf.yield (%next, %r)
} : tensor<1xi64>, tensor<256xf32>
%sq = pd.square (%y_end) : tensor<256xf32>
%loss = pd.sum (%sq) : tensor<f32>
pd.fetch (%loss) {name = "loss"}
// Each branch records on a stack of its own, whose handle is recorded with the predicate.
// CHECK: [[IF:%stack[_0-9]*]] = pd.if
// CHECK: cf.push_back ({{%stack[_0-9]*}}, %q)
// CHECK: cf.push_back (%stack, %y_b)
// CHECK: cf.push_back (%stack, %even)
// CHECK: cf.push_back (%stack, [[IF]])
// CHECK: pd.while_grad
// CHECK: [[H:%stack[_0-9]*]] = cf.pop_back (%stack) : cf.stack
// CHECK: [[EVEN:%[a-z_0-9]*]] = cf.pop_back (%stack) : tensor<1xi1>
// CHECK: pd.if_grad ([[EVEN]]) then
// CHECK-NEXT: cf.pop_back ([[H]])
// CHECK: else
// CHECK-NOT: cf.pop_back
// CHECK: pd.fetch {{.*}} {name = "x_grad"}
