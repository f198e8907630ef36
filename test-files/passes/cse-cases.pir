// RUN: pir-opt --pass=cse --split-input-file %s | FileCheck %s

// Constants of different types differ.
%a = pd.full {shape = [], value = 1, dtype = i64} : tensor<i64>
%b = pd.full {shape = [], value = 1, dtype = i32} : tensor<i32>
%0 = pd.print (%a) : tensor<i64>
%1 = pd.print (%b) : tensor<i32>

// CHECK: // Constants of different types differ.
// CHECK-NEXT: %a = pd.full {shape = [], value = 1, dtype = i64} : tensor<i64>
// CHECK-NEXT: %b = pd.full {shape = [], value = 1, dtype = i32} : tensor<i32>
// CHECK-NEXT: %0 = pd.print (%a) : tensor<i64>
// CHECK-NEXT: %1 = pd.print (%b) : tensor<i32>

// -----

// Values of outer regions are available inside, those of inner ones not outside.
%c = pd.data {name = "c", shape = [], dtype = i1} : tensor<i1>
%x = pd.data {name = "x", shape = [], dtype = f32} : tensor<f32>
%a = pd.add (%x, %x) : tensor<f32>
%r = pd.if (%c) then {
  %b = pd.add (%x, %x) : tensor<f32>
  %d = pd.add (%b, %x) : tensor<f32>
  cf.yield (%d)
} else {
  %e = pd.add (%a, %x) : tensor<f32>
  cf.yield (%e)
} : tensor<f32>
%f = pd.add (%a, %x) : tensor<f32>
%0 = pd.print (%f) : tensor<f32>

// CHECK: // Values of outer regions are available inside, those of inner ones not outside.
// CHECK-NEXT: %c = pd.data {name = "c", shape = [], dtype = i1} : tensor<i1>
// CHECK-NEXT: %x = pd.data {name = "x", shape = [], dtype = f32} : tensor<f32>
// CHECK-NEXT: %a = pd.add (%x, %x) : tensor<f32>
// CHECK-NEXT: %r = pd.if (%c) then {
// CHECK-NEXT:   %d = pd.add (%a, %x) : tensor<f32>
// CHECK-NEXT:   cf.yield (%d)
// CHECK-NEXT: } else {
// CHECK-NEXT:   %e = pd.add (%a, %x) : tensor<f32>
// CHECK-NEXT:   cf.yield (%e)
// CHECK-NEXT: } : tensor<f32>
// CHECK-NEXT: %f = pd.add (%a, %x) : tensor<f32>
// CHECK-NEXT: %0 = pd.print (%f) : tensor<f32>

// -----

// Reads are ordered with writes.
%x = pd.data {name = "x", shape = [], dtype = f32} : tensor<f32>
%s = cf.create_stack () : cf.stack
%a = cf.is_empty (%s) : i1
%b = cf.is_empty (%s) : i1
cf.push_back (%s, %x)
%c = cf.is_empty (%s) : i1
%d = cf.is_empty (%s) : i1
%0 = pd.print (%a) : i1
%1 = pd.print (%b) : i1
%2 = pd.print (%c) : i1
%3 = pd.print (%d) : i1

// CHECK: // Reads are ordered with writes.
// CHECK-NEXT: %x = pd.data {name = "x", shape = [], dtype = f32} : tensor<f32>
// CHECK-NEXT: %s = cf.create_stack () : cf.stack
// CHECK-NEXT: %a = cf.is_empty (%s) : i1
// CHECK-NEXT: cf.push_back (%s, %x)
// CHECK-NEXT: %c = cf.is_empty (%s) : i1
// CHECK-NEXT: %0 = pd.print (%a) : i1
// CHECK-NEXT: %1 = pd.print (%a) : i1
// CHECK-NEXT: %2 = pd.print (%c) : i1
// CHECK-NEXT: %3 = pd.print (%c) : i1

// -----

// Reads are ordered with writes.
// The loop pushes after the read, but before it in the next iteration.
%x = pd.data {name = "x", shape = [], dtype = f32} : tensor<f32>
%s = cf.create_stack () : cf.stack
%a = cf.is_empty (%s) : i1
pd.while cond {
  %b = cf.is_empty (%s) : i1
  cf.cond_yield (%b)
} body {
  cf.push_back (%s, %x)
  cf.yield ()
}
%c = cf.is_empty (%s) : i1
%0 = pd.print (%a) : i1
%1 = pd.print (%c) : i1

// CHECK: // Reads are ordered with writes.
// CHECK-NEXT: // The loop pushes after the read, but before it in the next iteration.
// CHECK-NEXT: %x = pd.data {name = "x", shape = [], dtype = f32} : tensor<f32>
// CHECK-NEXT: %s = cf.create_stack () : cf.stack
// CHECK-NEXT: %a = cf.is_empty (%s) : i1
// CHECK-NEXT: pd.while cond {
// CHECK-NEXT:   %b = cf.is_empty (%s) : i1
// CHECK-NEXT:   cf.cond_yield (%b)
// CHECK-NEXT: } body {
// CHECK-NEXT:   cf.push_back (%s, %x)
// CHECK-NEXT:   cf.yield ()
// CHECK-NEXT: }
// CHECK-NEXT: %c = cf.is_empty (%s) : i1
// CHECK-NEXT: %0 = pd.print (%a) : i1
// CHECK-NEXT: %1 = pd.print (%c) : i1

// -----

// Allocations and prints are never merged.
%x = pd.data {name = "x", shape = [], dtype = f32} : tensor<f32>
%s = cf.create_stack () : cf.stack
%u = cf.create_stack () : cf.stack
cf.push_back (%s, %x)
cf.push_back (%u, %x)
%0 = pd.print (%x) : tensor<f32>
%1 = pd.print (%x) : tensor<f32>

// CHECK: // Allocations and prints are never merged.
// CHECK-NEXT: %x = pd.data {name = "x", shape = [], dtype = f32} : tensor<f32>
// CHECK-NEXT: %s = cf.create_stack () : cf.stack
// CHECK-NEXT: %u = cf.create_stack () : cf.stack
// CHECK-NEXT: cf.push_back (%s, %x)
// CHECK-NEXT: cf.push_back (%u, %x)
// CHECK-NEXT: %0 = pd.print (%x) : tensor<f32>
// CHECK-NEXT: %1 = pd.print (%x) : tensor<f32>

// -----

// Between blocks by dominance.
func.func @f(%c: tensor<i1>, %x: tensor<f32>) -> tensor<f32> {
  %a = pd.add (%x, %x) : tensor<f32>
  pd.condition_branch %c, ^left, ^right
^left:
  %b = pd.add (%x, %x) : tensor<f32>
  %d = pd.add (%b, %x) : tensor<f32>
  pd.branch ^join(%d)
^right:
  %e = pd.add (%a, %x) : tensor<f32>
  pd.branch ^join(%e)
^join(%j: tensor<f32>):
  %g = pd.add (%a, %x) : tensor<f32>
  %h = pd.add (%x, %x) : tensor<f32>
  %k = pd.add (%g, %h) : tensor<f32>
  func.return (%k)
}

// CHECK: // Between blocks by dominance.
// CHECK-NEXT: func.func @f(%c: tensor<i1>, %x: tensor<f32>) -> tensor<f32> {
// CHECK-NEXT:   %a = pd.add (%x, %x) : tensor<f32>
// CHECK-NEXT:   pd.condition_branch %c, ^left, ^right
// CHECK-NEXT: ^left:
// CHECK-NEXT:   %d = pd.add (%a, %x) : tensor<f32>
// CHECK-NEXT:   pd.branch ^join(%d)
// CHECK-NEXT: ^right:
// CHECK-NEXT:   %e = pd.add (%a, %x) : tensor<f32>
// CHECK-NEXT:   pd.branch ^join(%e)
// CHECK-NEXT: ^join(%j: tensor<f32>):
// CHECK-NEXT:   %g = pd.add (%a, %x) : tensor<f32>
// CHECK-NEXT:   %k = pd.add (%g, %a) : tensor<f32>
// CHECK-NEXT:   func.return (%k)
// CHECK-NEXT: }
