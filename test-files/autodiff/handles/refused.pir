// RUN: not pir-opt --pass=backward --split-input-file %s 2>&1 | FileCheck %s
// What is not proven of a stack or a list is refused.

%x = pd.data {name = "x", shape = [2], dtype = f64}
%c = pd.data {name = "c", shape = [], dtype = i1}
%s = cf.create_stack ()
%r = cf.create_stack ()
cf.push_back (%s, %x)
cf.push_back (%r, %x)
%t = pd.if (%c) then {
  cf.yield (%s)
} else {
  cf.yield (%r)
} : cf.stack
// CHECK-DAG: error: the derivative passes through the stack %t behind `pd.if`: it may be one of several stacks
%y = cf.pop_back (%t) : tensor<2xf64>
pd.fetch (%y) {name = "y"}

// -----

// Two stacks that change places in every iteration.
%x = pd.data {name = "x", shape = [2], dtype = f64}
%n = pd.data {name = "n", shape = [], dtype = i64}
%one = pd.full {shape = [], value = 1, dtype = i64}
%s = cf.create_stack ()
%t = cf.create_stack ()
cf.push_back (%s, %x)
cf.push_back (%t, %x)
%e, %s2, %t2 = pd.while (%one, %s, %t) cond (%i, %a, %b) {
  %go = pd.less_than (%i, %n)
  cf.cond_yield (%go, %i, %a, %b)
} body (%i, %a, %b) {
  // CHECK-DAG: error: the derivative passes through the stack %a behind `pd.while`: it may be a different stack in each iteration
  %p = cf.pop_back (%a) : tensor<2xf64>
  %q = pd.sin (%p)
  // CHECK-DAG: error: the derivative passes through the stack %b behind `pd.while`
  cf.push_back (%b, %q)
  %k = pd.add (%i, %one)
  cf.yield (%k, %b, %a)
}
%y = cf.pop_back (%s2) : tensor<2xf64>
pd.fetch (%y) {name = "y"}

// -----

// A function may push on the stack that it is given.
func.func @f(%s: cf.stack, %x: tensor<2xf64>) {
  %y = pd.sin (%x)
  cf.push_back (%s, %y)
  func.return ()
}
%x = pd.data {name = "x", shape = [2], dtype = f64}
%s = cf.create_stack ()
func.call @f (%s, %x)
// CHECK-DAG: error: the derivative passes through the stack %s, and the effect of `func.call` on it is unknown
%y = cf.pop_back (%s) : tensor<2xf64>
pd.fetch (%y) {name = "y"}

// -----

// Two arguments may be the same stack.
func.func @f(%s: cf.stack, %t: cf.stack, %x: tensor<2xf64>) -> tensor<2xf64> {
  %y = pd.sin (%x)
  // CHECK-DAG: error: the derivative passes through the stack %s, which comes in from outside
  cf.push_back (%s, %y)
  // CHECK-DAG: error: the derivative passes through the stack %t, which comes in from outside
  %z = cf.pop_back (%t) : tensor<2xf64>
  func.return (%z)
}

// -----

// A stack that is hidden in a list.
%x = pd.data {name = "x", shape = [2], dtype = f64}
%s = cf.create_stack ()
// CHECK-DAG: error: the derivative passes through the list %l of `vec<cf.stack, tensor<2xf64>>`, but only lists of tensors have derivatives
%l = builtin.combine (%s, %x)
%s2, %x2 = builtin.split (%l)
%q = pd.sin (%x2)
// CHECK-DAG: error: the derivative passes through the stack %s{{.*}}, and the effect of `builtin.combine` on it is unknown
cf.push_back (%s, %q)
// CHECK-DAG: error: the derivative passes through the stack %s{{.*}}, and the effect of `builtin.split` on it is unknown
%y = cf.pop_back (%s2) : tensor<2xf64>
pd.fetch (%y) {name = "y"}

// -----

%x = pd.data {name = "x", shape = [2], dtype = f64}
%l = builtin.combine (%x, %x)
// CHECK-DAG: error: the derivative passes through the list %ll of `vec<vec<
%ll = builtin.combine (%l, %x)
%m, %z = builtin.split (%ll)
%a, %b = builtin.split (%m)
%y = pd.multiply (%a, %z)
pd.fetch (%y) {name = "y"}

// -----

// Both copies hold the same stack.
%x = pd.data {name = "x", shape = [2], dtype = f64}
%s = cf.create_stack ()
%o = cf.create_stack ()
cf.push_back (%s, %x)
cf.push_back (%s, %x)
cf.push_back (%o, %s)
// CHECK-DAG: error: the derivative passes through a copy of a stack with values of several types, or with stacks
%c = cf.copy_stack (%o)
%d = cf.pop_back (%o) : cf.stack
%f = cf.pop_back (%c) : cf.stack
%y0 = cf.pop_back (%d) : tensor<2xf64>
%y1 = cf.pop_back (%f) : tensor<2xf64>
%y = pd.multiply (%y0, %y1)
pd.fetch (%y) {name = "y"}

// -----

// A stack of which each iteration makes another one, used by the body and behind the loop.
%x = pd.data {name = "x", shape = [2], dtype = f64}
%n = pd.data {name = "n", shape = [], dtype = i64}
%one = pd.full {shape = [], value = 1, dtype = i64}
%i, %h, %s2 = pd.while (%one, %x) cond (%i, %a) {
  %s = cf.create_stack ()
  %q = pd.sin (%a)
  cf.push_back (%s, %q)
  %go = pd.less_than (%i, %n)
  cf.cond_yield (%go, %i, %a, %s)
} body (%i, %a, %s) {
  // CHECK-DAG: error: the derivative passes through the stack %s, which is used outside of the region that creates it
  %p = cf.pop_back (%s) : tensor<2xf64>
  %k = pd.add (%i, %one)
  cf.yield (%k, %p)
}
// CHECK-DAG: error: the derivative passes through the stack %s, which is used outside of the region that creates it
%y1 = cf.pop_back (%s2) : tensor<2xf64>
%y = pd.multiply (%h, %y1)
pd.fetch (%y) {name = "y"}
