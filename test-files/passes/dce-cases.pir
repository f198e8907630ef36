// RUN: pir-opt --pass=dce --split-input-file %s | FileCheck %s

// Results of branches.
%c = pd.data {name = "c", shape = [], dtype = i1} : tensor<i1>
%x = pd.data {name = "x", shape = [], dtype = f32} : tensor<f32>
%a, %b = pd.if (%c) then {
  %p = pd.add (%x, %x) : tensor<f32>
  %q = pd.add (%p, %x) : tensor<f32>
  cf.yield (%p, %q)
} else {
  %r = pd.subtract (%x, %x) : tensor<f32>
  cf.yield (%r, %x)
} : tensor<f32>, tensor<f32>
%0 = pd.print (%b) : tensor<f32>

// CHECK: // Results of branches.
// CHECK-NEXT: %c = pd.data {name = "c", shape = [], dtype = i1} : tensor<i1>
// CHECK-NEXT: %x = pd.data {name = "x", shape = [], dtype = f32} : tensor<f32>
// CHECK-NEXT: %b = pd.if (%c) then {
// CHECK-NEXT:   %p = pd.add (%x, %x) : tensor<f32>
// CHECK-NEXT:   %q = pd.add (%p, %x) : tensor<f32>
// CHECK-NEXT:   cf.yield (%q)
// CHECK-NEXT: } else {
// CHECK-NEXT:   cf.yield (%x)
// CHECK-NEXT: } : tensor<f32>
// CHECK-NEXT: %0 = pd.print (%b) : tensor<f32>

// -----

// Carried values that only feed themselves.
%n = pd.data {name = "n", shape = [], dtype = i64} : tensor<i64>
%x = pd.data {name = "x", shape = [], dtype = i64} : tensor<i64>
%i_end, %dead_end, %y = pd.while (%n, %n, %x) cond (%i: tensor<i64>, %dead: tensor<i64>, %a: tensor<i64>) {
  %go = pd.less_than (%i, %n) : tensor<i1>
  cf.cond_yield (%go, %i, %dead, %a)
} body (%i_b: tensor<i64>, %dead_b: tensor<i64>, %a_b: tensor<i64>) {
  %i_next = pd.add (%i_b, %n) : tensor<i64>
  %dead_next = pd.add (%dead_b, %i_b) : tensor<i64>
  %a_next = pd.add (%a_b, %a_b) : tensor<i64>
  cf.yield (%i_next, %dead_next, %a_next)
} : tensor<i64>, tensor<i64>, tensor<i64>
%0 = pd.print (%y) : tensor<i64>

// CHECK: // Carried values that only feed themselves.
// CHECK-NEXT: %n = pd.data {name = "n", shape = [], dtype = i64} : tensor<i64>
// CHECK-NEXT: %x = pd.data {name = "x", shape = [], dtype = i64} : tensor<i64>
// CHECK-NEXT: %i_end, %y = pd.while (%n, %x) cond (%i: tensor<i64>, %a: tensor<i64>) {
// CHECK-NEXT:   %go = pd.less_than (%i, %n) : tensor<i1>
// CHECK-NEXT:   cf.cond_yield (%go, %i, %a)
// CHECK-NEXT: } body (%i_b: tensor<i64>, %a_b: tensor<i64>) {
// CHECK-NEXT:   %i_next = pd.add (%i_b, %n) : tensor<i64>
// CHECK-NEXT:   %a_next = pd.add (%a_b, %a_b) : tensor<i64>
// CHECK-NEXT:   cf.yield (%i_next, %a_next)
// CHECK-NEXT: } : tensor<i64>, tensor<i64>
// CHECK-NEXT: %0 = pd.print (%y) : tensor<i64>

// -----

// A loop that computes nothing goes.
%n = pd.data {name = "n", shape = [], dtype = i64} : tensor<i64>
%r = pd.while (%n) cond (%i: tensor<i64>) {
  %go = pd.less_than (%i, %n) : tensor<i1>
  cf.cond_yield (%go, %i)
} body (%b: tensor<i64>) {
  %next = pd.add (%b, %n) : tensor<i64>
  cf.yield (%next)
} : tensor<i64>

// CHECK: // A loop that computes nothing goes.
// CHECK-NEXT: %n = pd.data {name = "n", shape = [], dtype = i64} : tensor<i64>

// -----

// Values forwarded by the condition need not be its arguments.
// The result is used, the argument of the body is not: the slot stays, the carried value does not.
%n = pd.data {name = "n", shape = [], dtype = i64} : tensor<i64>
%c = pd.data {name = "c", shape = [], dtype = i1} : tensor<i1>
%r = pd.while (%n) cond (%i: tensor<i64>) {
  %two = pd.add (%n, %n) : tensor<i64>
  cf.cond_yield (%c, %two)
} body (%b: tensor<i64>) {
  %next = pd.add (%b, %n) : tensor<i64>
  cf.yield (%next)
} : tensor<i64>
%0 = pd.print (%r) : tensor<i64>

// CHECK: // Values forwarded by the condition need not be its arguments.
// CHECK-NEXT: // The result is used, the argument of the body is not: the slot stays, the carried value does not.
// CHECK-NEXT: %n = pd.data {name = "n", shape = [], dtype = i64} : tensor<i64>
// CHECK-NEXT: %c = pd.data {name = "c", shape = [], dtype = i1} : tensor<i1>
// CHECK-NEXT: %r = pd.while cond {
// CHECK-NEXT:   %two = pd.add (%n, %n) : tensor<i64>
// CHECK-NEXT:   cf.cond_yield (%c, %two)
// CHECK-NEXT: } body (%b: tensor<i64>) {
// CHECK-NEXT:   cf.yield ()
// CHECK-NEXT: } : tensor<i64>
// CHECK-NEXT: %0 = pd.print (%r) : tensor<i64>

// -----

// Slots of stacks stay.
%c = pd.data {name = "c", shape = [], dtype = i1} : tensor<i1>
%s = cf.create_stack () : cf.stack
%r = pd.while (%s) cond (%a: cf.stack) {
  %0 = pd.print (%c) : tensor<i1>
  cf.cond_yield (%c, %a)
} body (%b: cf.stack) {
  cf.yield (%b)
} : cf.stack

// CHECK: // Slots of stacks stay.
// CHECK-NEXT: %c = pd.data {name = "c", shape = [], dtype = i1} : tensor<i1>
// CHECK-NEXT: %s = cf.create_stack () : cf.stack
// CHECK-NEXT: %r = pd.while (%s) cond (%a: cf.stack) {
// CHECK-NEXT:   %0 = pd.print (%c) : tensor<i1>
// CHECK-NEXT:   cf.cond_yield (%c, %a)
// CHECK-NEXT: } body (%b: cf.stack) {
// CHECK-NEXT:   cf.yield (%b)
// CHECK-NEXT: } : cf.stack

// -----

// Arguments of blocks.
func.func @f(%c: tensor<i1>, %x: tensor<f32>) -> tensor<f32> {
  %y = pd.add (%x, %x) : tensor<f32>
  pd.condition_branch %c, ^left(%y, %x), ^left(%x, %y)
^left(%p: tensor<f32>, %q: tensor<f32>):
  func.return (%q)
}

// CHECK: // Arguments of blocks.
// CHECK-NEXT: func.func @f(%c: tensor<i1>, %x: tensor<f32>) -> tensor<f32> {
// CHECK-NEXT:   %y = pd.add (%x, %x) : tensor<f32>
// CHECK-NEXT:   pd.condition_branch %c, ^left(%x), ^left(%y)
// CHECK-NEXT: ^left(%q: tensor<f32>):
// CHECK-NEXT:   func.return (%q)
// CHECK-NEXT: }
