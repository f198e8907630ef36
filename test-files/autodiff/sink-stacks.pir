// RUN: pir-opt --pass=backward,sink-stacks %s | FileCheck %s
// RUN: pir-opt --pass=backward,sink-stacks,lower-to-dataflow %s | FileCheck %s --check-prefix=GRAPH
// RUN: pir-opt --pass=backward,sink-stacks %s --emit=paddle-json | FileCheck %s --check-prefix=PADDLE
%n = pd.data {name = "n", shape = [1], dtype = i64} : tensor<1xi64>
%x = pd.data {name = "x", shape = [3], dtype = f64} : tensor<3xf64>
%y = pd.data {name = "y", shape = [3], dtype = f64} : tensor<3xf64>
%zero = pd.full {shape = [1], value = 0, dtype = i64} : tensor<1xi64>
%one = pd.full {shape = [1], value = 1, dtype = i64} : tensor<1xi64>
%two = pd.full {shape = [1], value = 2, dtype = i64} : tensor<1xi64>
%three = pd.full {shape = [1], value = 3, dtype = i64} : tensor<1xi64>
%i_end, %y_end = pd.while (%zero, %y) cond (%i: tensor<1xi64>, %a: tensor<3xf64>) {
  %go = pd.less_than (%i, %n) : tensor<1xi1>
  cf.cond_yield (%go, %i, %a)
} body (%i: tensor<1xi64>, %a: tensor<3xf64>) {
  %half = pd.remainder (%i, %two) : tensor<1xi64>
  %even = pd.equal (%half, %zero) : tensor<1xi1>
  %third = pd.remainder (%i, %three) : tensor<1xi64>
  %often = pd.less_than (%third, %two) : tensor<1xi1>
  %s = pd.sin (%a) : tensor<3xf64>
  %both = pd.cos (%a) : tensor<3xf64>
  %b = pd.if (%even) then {
    %p = pd.multiply (%a, %both) : tensor<3xf64>
    %q = pd.tanh (%p) : tensor<3xf64>
    %r = pd.if (%often) then {
      %t = pd.tanh (%q) : tensor<3xf64>
      %u = pd.multiply (%t, %s) : tensor<3xf64>
      cf.yield (%u)
    } else {
      cf.yield (%q)
    } : tensor<3xf64>
    cf.yield (%r)
  } else {
    %p = pd.exp (%both) : tensor<3xf64>
    %q = pd.multiply (%p, %both) : tensor<3xf64>
    cf.yield (%q)
  } : tensor<3xf64>
  %after = pd.add (%b, %x) : tensor<3xf64>
  %c = pd.if (%often) then {
    %p = pd.exp (%after) : tensor<3xf64>
    %q = pd.divide (%after, %p) : tensor<3xf64>
    cf.yield (%q)
  } else {
    cf.yield (%after)
  } : tensor<3xf64>
  %next = pd.add (%i, %one) : tensor<1xi64>
  cf.yield (%next, %c)
} : tensor<1xi64>, tensor<3xf64>
%sum = pd.sum (%y_end) : tensor<f64>
pd.fetch (%sum) {name = "loss"}

// Down to the branch of a branch that alone reads it, if it is defined in front of it; what more than one place reads stays.
// CHECK:      } then ([[OUTER:%stack_[0-9]+]]: cf.stack) {
// CHECK:      } then ([[INNER:%stack_[0-9]+]]: cf.stack) {
// CHECK:      cf.push_back ([[INNER]], %t)
// CHECK-NEXT: cf.push_back ([[INNER]], %s)
// CHECK-NEXT: cf.yield
// CHECK:      cf.push_back ([[OUTER]], %q)
// CHECK:      } then ([[LAST:%stack_[0-9]+]]: cf.stack) {
// CHECK:      cf.push_back ([[LAST]], %p)
// CHECK-NEXT: cf.push_back ([[LAST]], %after)
// CHECK:      %next = pd.add
// CHECK-NEXT: cf.push_back (%stack, %a)
// CHECK-NEXT: cf.push_back (%stack, %even)
// CHECK-NEXT: cf.push_back (%stack, %often)
// CHECK-NEXT: cf.push_back (%stack, %both)
// CHECK-NEXT: cf.push_back (%stack, %stack_
// CHECK-NEXT: cf.push_back (%stack, %stack_
// CHECK-NEXT: cf.yield
// CHECK:      pd.while_grad
// CHECK:      %after_grad = pd.if_grad (%often) then {
// CHECK-NEXT:   %after = cf.pop_back ([[H:%stack_[0-9]+]])
// CHECK-NEXT:   %p = cf.pop_back ([[H]])
// CHECK:      pd.if_grad (%even) then {
// CHECK-NEXT:   [[I:%stack_[0-9]+]] = cf.pop_back
// CHECK:        pd.if_grad (%often) then {
// CHECK-NEXT:     %s = cf.pop_back ([[I]])
// CHECK-NEXT:     %t = cf.pop_back ([[I]])

// GRAPH-NOT: error
// GRAPH:     "y_grad"

// PADDLE-NOT: error
// PADDLE:     "y_grad"

