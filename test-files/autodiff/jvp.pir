// RUN: pir-opt --pass=jvp %s | FileCheck %s
// RUN: pir-opt --pass=jvp{wrt=w} %s | FileCheck %s --check-prefix=ONE
// RUN: pir-opt --pass=stack-locals,jvp %s | FileCheck %s --check-prefix=STACK
// Tangents go along: a slot for each carried value that depends on an input and reaches an output, and nothing else.
%n = pd.data {name = "n", shape = [], dtype = i64} : tensor<i64>
%x = pd.data {name = "x", shape = [2], dtype = f64} : tensor<2xf64>
%w = pd.data {name = "w", shape = [2], dtype = f64} : tensor<2xf64>
%zero = pd.full {shape = [], value = 0, dtype = i64} : tensor<i64>
%one = pd.full {shape = [], value = 1, dtype = i64} : tensor<i64>
%fixed = pd.full {shape = [2], value = 0.5, dtype = f64} : tensor<2xf64>
%k, %y, %lost = pd.while (%zero, %x, %fixed) cond (%i, %a, %f) {
  %go = pd.less_than (%i, %n)
  cf.cond_yield (%go, %i, %a, %f)
} body (%i, %a, %f) {
  %odd = pd.equal (%i, %one)
  %r = pd.if (%odd) then {
    %p = pd.multiply (%a, %w)
    cf.yield (%p)
  } else {
    cf.yield (%f)
  }
  %half = pd.scale (%f) {scale = 0.5}
  %next = pd.add (%i, %one)
  cf.yield (%next, %r, %half)
}
%dead = pd.exp (%y)
pd.fetch (%y) {name = "y"}
pd.fetch (%lost) {name = "lost"}

// CHECK: %x = pd.data
// CHECK-NEXT: %x_tangent = pd.data {name = "x_tangent", shape = [2], dtype = f64, stop_gradient = true} : tensor<2xf64>
// CHECK-NEXT: %w = pd.data
// CHECK-NEXT: %w_tangent = pd.data {name = "w_tangent"
// CHECK: %k, %y, %lost, %y_tangent = pd.while (%zero, %x, %fixed, %x_tangent) cond (%i: tensor<i64>, %a: tensor<2xf64>, %f: tensor<2xf64>, %a_tangent: tensor<2xf64>) {
// CHECK-NEXT: %go = pd.less_than (%i, %n)
// CHECK-NEXT: cf.cond_yield (%go, %i, %a, %f, %a_tangent)
// CHECK: %r, %r_tangent = pd.if (%odd) then {
// CHECK-NEXT: %p = pd.multiply (%a, %w)
// CHECK: %p_tangent = pd.add
// CHECK-NEXT: cf.yield (%p, %p_tangent)
// CHECK-NEXT: } else {
// CHECK-NEXT: %f_tangent = pd.full {shape = [2], value = 0.0
// CHECK-NEXT: cf.yield (%f, %f_tangent)
// CHECK: %half = pd.scale (%f) {scale = 0.5}
// CHECK-NEXT: %next = pd.add (%i, %one)
// CHECK-NEXT: cf.yield (%next, %r, %half, %r_tangent)
// CHECK: %dead = pd.exp (%y)
// CHECK-NOT: pd.multiply
// CHECK: pd.fetch (%y_tangent) {name = "y_tangent"}
// CHECK: %lost_tangent = pd.full {shape = [2], value = 0.0
// CHECK-NEXT: pd.fetch (%lost_tangent) {name = "lost_tangent"}

// One direction only: that of %x is zero, in front of the loop.
// ONE-NOT: "x_tangent"
// ONE: %x_tangent = pd.full {shape = [2], value = 0.0
// ONE: pd.while (%zero, %x, %fixed, %x_tangent)

// A stack stays the last of everything. What is pushed for nothing needs no tangent.
// STACK: %k, %y, %lost, %y_tangent, %stack = pd.while (%zero, %x, %fixed, %x_tangent) init (%i: tensor<i64>, %a: tensor<2xf64>, %f: tensor<2xf64>, %a_tangent: tensor<2xf64>) {
// STACK: cf.yield (%i, %a, %f, %a_tangent, %stack)
// STACK: cf.cond_yield (%go, %i, %a, %f, %a_tangent, %stack)
// STACK-NOT: cf.push_back ({{.*}}_tangent)
