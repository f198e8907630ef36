// RUN: not pir-opt --allow-unregistered-dialect --pass=backward --split-input-file %s 2>&1 | FileCheck %s
// RUN: not pir-opt --allow-unregistered-dialect --pass=jvp --split-input-file %s 2>&1 | FileCheck %s
// That there is no derivative is declared, never assumed: whatever the type of what an operation gives that says nothing.

// Through complex numbers.
%x = pd.data {name = "x", shape = [2], dtype = f32} : tensor<2xf32>
%y = pd.data {name = "y", shape = [2], dtype = f32} : tensor<2xf32>
// CHECK:      error: `my.complex` has no derivative
// CHECK-NEXT: it is reached from an input by %x
// CHECK-NEXT: it reaches an output by %c -> %d -> %r -> %s
// CHECK:      help: if no gradient is needed, insert a `pd.detach` before it
%c = "my.complex"(%x, %y) : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xcomplex<f32>>
// CHECK: error: `pd.prod` has no derivative for values of type `tensor<2xcomplex<f32>>`
%d = pd.prod (%c) {keepdim = true} : tensor<1xcomplex<f32>>
// CHECK: error: `my.real` has no derivative
%r = "my.real"(%d) : (tensor<1xcomplex<f32>>) -> tensor<2xf32>
%s = pd.sum (%r) : tensor<f32>
pd.fetch (%s) {name = "s"}

// -----

// Through integers that something unknown made of floats: only the unknown is reported.
%x = pd.data {name = "x", shape = [2], dtype = f32} : tensor<2xf32>
// CHECK:     error: `my.bits` has no derivative
// CHECK-NOT: `pd.add` has no derivative
%i = "my.bits"(%x) : (tensor<2xf32>) -> tensor<2xi64>
%j = pd.add (%i, %i) : tensor<2xi64>
%f = pd.cast (%j) {dtype = f32} : tensor<2xf32>
pd.fetch (%f) {name = "f"}

// -----

// Through values of a type that nobody knows, and a branch.
%x = pd.data {name = "x", shape = [2], dtype = f32} : tensor<2xf32>
%c = pd.data {name = "c", shape = [], dtype = i1} : tensor<i1>
// CHECK: error: `my.box` has no derivative
%b = "my.box"(%x) : (tensor<2xf32>) -> !my.box
%d = pd.if (%c) {
  cf.yield (%b)
} else {
  cf.yield (%b)
} : !my.box
// CHECK: error: `my.unbox` has no derivative
%f = "my.unbox"(%d) : (!my.box) -> tensor<2xf32>
pd.fetch (%f) {name = "f"}

// -----

// Through a loop.
%x = pd.data {name = "x", shape = [2], dtype = f32} : tensor<2xf32>
%n = pd.data {name = "n", shape = [], dtype = i64} : tensor<i64>
%one = pd.full {shape = [], value = 1, dtype = i64} : tensor<i64>
// CHECK: error: `my.bits` has no derivative
%i = "my.bits"(%x) : (tensor<2xf32>) -> tensor<2xi64>
%k, %e = pd.while (%one, %i) cond (%k: tensor<i64>, %a: tensor<2xi64>) {
  %go = pd.less_than (%k, %n) : tensor<i1>
  cf.cond_yield (%go, %k, %a)
} body (%k: tensor<i64>, %a: tensor<2xi64>) {
  %next = pd.add (%k, %one) : tensor<i64>
  %b = pd.add (%a, %a) : tensor<2xi64>
  cf.yield (%next, %b)
} : tensor<i64>, tensor<2xi64>
%f = pd.cast (%e) {dtype = f32} : tensor<2xf32>
pd.fetch (%f) {name = "f"}

// -----

// Through a stack of integers.
%x = pd.data {name = "x", shape = [2], dtype = f32} : tensor<2xf32>
// CHECK: error: `my.bits` has no derivative
%i = "my.bits"(%x) : (tensor<2xf32>) -> tensor<2xi64>
%s = cf.create_stack () : cf.stack
cf.push_back (%s, %i)
%j = cf.pop_back (%s) : tensor<2xi64>
%f = pd.cast (%j) {dtype = f32} : tensor<2xf32>
pd.fetch (%f) {name = "f"}

// -----

// Through a list.
%x = pd.data {name = "x", shape = [2], dtype = f32} : tensor<2xf32>
// CHECK: error: `my.list` has no derivative
%l = "my.list"(%x) : (tensor<2xf32>) -> vec<tensor<2xi64>, tensor<2xf32>>
%a, %b = builtin.split (%l) : tensor<2xi64>, tensor<2xf32>
%g = pd.multiply (%b, %x) : tensor<2xf32>
pd.fetch (%g) {name = "g"}

// -----

// Out of regions of which it is not known how control goes through them.
%x = pd.data {name = "x", shape = [2], dtype = f32} : tensor<2xf32>
// CHECK:      error: `my.region` has no derivative
// CHECK-NEXT: it is reached from an input by %x
%y = "my.region"() ({
  %t = pd.tanh (%x) : tensor<2xf32>
  "my.yield"(%t) : (tensor<2xf32>) -> ()
}) : () -> tensor<2xf32>
pd.fetch (%y) {name = "y"}

// -----

// A copy of a parameter in another precision is nothing that the rule knows.
%p = pd.data {name = "p", shape = [2], dtype = f32} : tensor<2xf32>
%m = pd.data {name = "m", shape = [2], dtype = f32} : tensor<2xf32>
%g = pd.data {name = "g", shape = [2], dtype = f32, stop_gradient = true} : tensor<2xf32>
%r = pd.full {shape = [1], value = 0.1, dtype = f32} : tensor<1xf32>
// CHECK: `pd.sgd_`: there is no rule for its operand `master_param`
%o, %n = pd.sgd_ (%p, %r, %g, %m) {multi_precision = true} : tensor<2xf32>, tensor<2xf32>
pd.fetch (%o) {name = "o"}

// -----

// The new parameter depends on the old one, and no rule knows how.
%p = pd.data {name = "p", shape = [2], dtype = f32} : tensor<2xf32>
%g = pd.data {name = "g", shape = [2], dtype = f32, stop_gradient = true} : tensor<2xf32>
%v = pd.data {name = "v", shape = [2], dtype = f32, stop_gradient = true} : tensor<2xf32>
%r = pd.full {shape = [1], value = 0.1, dtype = f32} : tensor<1xf32>
// CHECK:      error: `pd.momentum_` has no derivative
// CHECK-NEXT: it is reached from an input by %p
%o, %w = pd.momentum_ (%p, %g, %v, %r) {mu = 0.9} : tensor<2xf32>, tensor<2xf32>
pd.fetch (%o) {name = "o"}
