// RUN: pir-opt --pass=forward-args --split-input-file %s | FileCheck %s

// A value carried unchanged.
%i = pd.data {name = "i", shape = [], dtype = i64} : tensor<i64>
%ten = pd.data {name = "ten", shape = [], dtype = i64} : tensor<i64>
%i_2, %ten2 = pd.while (%i, %ten) cond (%arg1: tensor<i64>, %arg2: tensor<i64>) {
  %go = pd.less_than (%arg1, %arg2) : tensor<i1>
  cf.cond_yield (%go, %arg1, %arg2)
} body (%arg3: tensor<i64>, %arg4: tensor<i64>) {
  %i_3 = pd.add (%arg3, %arg4) : tensor<i64>
  cf.yield (%i_3, %arg4)
} : tensor<i64>, tensor<i64>
%0 = pd.print (%ten2) : tensor<i64>
%1 = pd.print (%i_2) : tensor<i64>

// CHECK: // A value carried unchanged.
// CHECK-NEXT: %i = pd.data {name = "i", shape = [], dtype = i64} : tensor<i64>
// CHECK-NEXT: %ten = pd.data {name = "ten", shape = [], dtype = i64} : tensor<i64>
// CHECK-NEXT: %i_2 = pd.while (%i) cond (%arg1: tensor<i64>) {
// CHECK-NEXT:   %go = pd.less_than (%arg1, %ten) : tensor<i1>
// CHECK-NEXT:   cf.cond_yield (%go, %arg1)
// CHECK-NEXT: } body (%arg3: tensor<i64>) {
// CHECK-NEXT:   %i_3 = pd.add (%arg3, %ten) : tensor<i64>
// CHECK-NEXT:   cf.yield (%i_3)
// CHECK-NEXT: } : tensor<i64>
// CHECK-NEXT: %0 = pd.print (%ten) : tensor<i64>
// CHECK-NEXT: %1 = pd.print (%i_2) : tensor<i64>

// -----

// Equal carried values that are exchanged.
%c = pd.data {name = "c", shape = [], dtype = i1} : tensor<i1>
%x = pd.data {name = "x", shape = [], dtype = f32} : tensor<f32>
%r, %s = pd.while (%x, %x) cond (%a: tensor<f32>, %b: tensor<f32>) {
  %0 = pd.print (%a) : tensor<f32>
  cf.cond_yield (%c, %b, %a)
} body (%d: tensor<f32>, %e: tensor<f32>) {
  cf.yield (%e, %d)
} : tensor<f32>, tensor<f32>
%1 = pd.print (%s) : tensor<f32>

// CHECK: // Equal carried values that are exchanged.
// CHECK-NEXT: %c = pd.data {name = "c", shape = [], dtype = i1} : tensor<i1>
// CHECK-NEXT: %x = pd.data {name = "x", shape = [], dtype = f32} : tensor<f32>
// CHECK-NEXT: pd.while cond {
// CHECK-NEXT:   %0 = pd.print (%x) : tensor<f32>
// CHECK-NEXT:   cf.cond_yield (%c)
// CHECK-NEXT: } body {
// CHECK-NEXT:   cf.yield ()
// CHECK-NEXT: }
// CHECK-NEXT: %1 = pd.print (%x) : tensor<f32>

// -----

// Equal carried values that are exchanged.
// Exchanged with different values, they vary.
%c = pd.data {name = "c", shape = [], dtype = i1} : tensor<i1>
%x = pd.data {name = "x", shape = [], dtype = f32} : tensor<f32>
%y = pd.data {name = "y", shape = [], dtype = f32} : tensor<f32>
%r, %s = pd.while (%x, %y) cond (%a: tensor<f32>, %b: tensor<f32>) {
  %0 = pd.print (%a) : tensor<f32>
  cf.cond_yield (%c, %a, %b)
} body (%d: tensor<f32>, %e: tensor<f32>) {
  cf.yield (%e, %d)
} : tensor<f32>, tensor<f32>
%1 = pd.print (%s) : tensor<f32>

// CHECK: // Equal carried values that are exchanged.
// CHECK-NEXT: // Exchanged with different values, they vary.
// CHECK-NEXT: %c = pd.data {name = "c", shape = [], dtype = i1} : tensor<i1>
// CHECK-NEXT: %x = pd.data {name = "x", shape = [], dtype = f32} : tensor<f32>
// CHECK-NEXT: %y = pd.data {name = "y", shape = [], dtype = f32} : tensor<f32>
// CHECK-NEXT: %r, %s = pd.while (%x, %y) cond (%a: tensor<f32>, %b: tensor<f32>) {
// CHECK-NEXT:   %0 = pd.print (%a) : tensor<f32>
// CHECK-NEXT:   cf.cond_yield (%c, %a, %b)
// CHECK-NEXT: } body (%d: tensor<f32>, %e: tensor<f32>) {
// CHECK-NEXT:   cf.yield (%e, %d)
// CHECK-NEXT: } : tensor<f32>, tensor<f32>
// CHECK-NEXT: %1 = pd.print (%s) : tensor<f32>

// -----

// Through nested loops and branches.
%c = pd.data {name = "c", shape = [], dtype = i1} : tensor<i1>
%x = pd.data {name = "x", shape = [], dtype = f32} : tensor<f32>
%r = pd.while (%x) cond (%a: tensor<f32>) {
  cf.cond_yield (%c, %a)
} body (%b: tensor<f32>) {
  %k = pd.if (%c) then {
    %in = pd.while (%b) cond (%e: tensor<f32>) {
      cf.cond_yield (%c, %e)
    } body (%g: tensor<f32>) {
      %0 = pd.print (%g) : tensor<f32>
      cf.yield (%g)
    } : tensor<f32>
    cf.yield (%in)
  } else {
    cf.yield (%b)
  } : tensor<f32>
  cf.yield (%k)
} : tensor<f32>
%1 = pd.print (%r) : tensor<f32>

// CHECK: // Through nested loops and branches.
// CHECK-NEXT: %c = pd.data {name = "c", shape = [], dtype = i1} : tensor<i1>
// CHECK-NEXT: %x = pd.data {name = "x", shape = [], dtype = f32} : tensor<f32>
// CHECK-NEXT: pd.while cond {
// CHECK-NEXT:   cf.cond_yield (%c)
// CHECK-NEXT: } body {
// CHECK-NEXT:   pd.if (%c) then {
// CHECK-NEXT:     pd.while cond {
// CHECK-NEXT:       cf.cond_yield (%c)
// CHECK-NEXT:     } body {
// CHECK-NEXT:       %0 = pd.print (%x) : tensor<f32>
// CHECK-NEXT:       cf.yield ()
// CHECK-NEXT:     }
// CHECK-NEXT:     cf.yield ()
// CHECK-NEXT:   } else {
// CHECK-NEXT:     cf.yield ()
// CHECK-NEXT:   }
// CHECK-NEXT:   cf.yield ()
// CHECK-NEXT: }
// CHECK-NEXT: %1 = pd.print (%x) : tensor<f32>

// -----

// The same constant everywhere.
%c = pd.data {name = "c", shape = [], dtype = i1} : tensor<i1>
%k = pd.full {shape = [], value = 1, dtype = i64} : tensor<i64>
%r = pd.while (%k) cond (%a: tensor<i64>) {
  cf.cond_yield (%c, %a)
} body (%b: tensor<i64>) {
  %k2 = pd.full {shape = [], value = 1, dtype = i64} : tensor<i64>
  %0 = pd.print (%b) : tensor<i64>
  cf.yield (%k2)
} : tensor<i64>
%s = pd.if (%c) then {
  %p = pd.full {shape = [], value = 2, dtype = i64} : tensor<i64>
  cf.yield (%p)
} else {
  %q = pd.full {shape = [], value = 2, dtype = i64} : tensor<i64>
  cf.yield (%q)
} : tensor<i64>
%1 = pd.print (%s) : tensor<i64>

// CHECK: // The same constant everywhere.
// CHECK-NEXT: %c = pd.data {name = "c", shape = [], dtype = i1} : tensor<i1>
// CHECK-NEXT: %k = pd.full {shape = [], value = 1, dtype = i64} : tensor<i64>
// CHECK-NEXT: pd.while cond {
// CHECK-NEXT:   cf.cond_yield (%c)
// CHECK-NEXT: } body {
// CHECK-NEXT:   %k2 = pd.full {shape = [], value = 1, dtype = i64} : tensor<i64>
// CHECK-NEXT:   %0 = pd.print (%k) : tensor<i64>
// CHECK-NEXT:   cf.yield ()
// CHECK-NEXT: }
// CHECK-NEXT: %p = pd.full {shape = [], value = 2, dtype = i64} : tensor<i64>
// CHECK-NEXT: pd.if (%c) then {
// CHECK-NEXT:   %p_1 = pd.full {shape = [], value = 2, dtype = i64} : tensor<i64>
// CHECK-NEXT:   cf.yield ()
// CHECK-NEXT: } else {
// CHECK-NEXT:   %q = pd.full {shape = [], value = 2, dtype = i64} : tensor<i64>
// CHECK-NEXT:   cf.yield ()
// CHECK-NEXT: }
// CHECK-NEXT: %1 = pd.print (%p) : tensor<i64>

// -----

// Different constants and types are not the same.
%c = pd.data {name = "c", shape = [], dtype = i1} : tensor<i1>
%s = pd.if (%c) then {
  %p = pd.full {shape = [], value = 2, dtype = i64} : tensor<i64>
  cf.yield (%p)
} else {
  %q = pd.full {shape = [], value = 3, dtype = i64} : tensor<i64>
  cf.yield (%q)
} : tensor<i64>
%0 = pd.print (%s) : tensor<i64>

// CHECK: // Different constants and types are not the same.
// CHECK-NEXT: %c = pd.data {name = "c", shape = [], dtype = i1} : tensor<i1>
// CHECK-NEXT: %s = pd.if (%c) then {
// CHECK-NEXT:   %p = pd.full {shape = [], value = 2, dtype = i64} : tensor<i64>
// CHECK-NEXT:   cf.yield (%p)
// CHECK-NEXT: } else {
// CHECK-NEXT:   %q = pd.full {shape = [], value = 3, dtype = i64} : tensor<i64>
// CHECK-NEXT:   cf.yield (%q)
// CHECK-NEXT: } : tensor<i64>
// CHECK-NEXT: %0 = pd.print (%s) : tensor<i64>

// -----

// A changing value and a swap with it.
%c = pd.data {name = "c", shape = [], dtype = i1} : tensor<i1>
%x = pd.data {name = "x", shape = [], dtype = f32} : tensor<f32>
%r = pd.while (%x) cond (%a: tensor<f32>) {
  cf.cond_yield (%c, %a)
} body (%b: tensor<f32>) {
  %d = pd.add (%b, %x) : tensor<f32>
  cf.yield (%d)
} : tensor<f32>
%0 = pd.print (%r) : tensor<f32>

// CHECK: // A changing value and a swap with it.
// CHECK-NEXT: %c = pd.data {name = "c", shape = [], dtype = i1} : tensor<i1>
// CHECK-NEXT: %x = pd.data {name = "x", shape = [], dtype = f32} : tensor<f32>
// CHECK-NEXT: %r = pd.while (%x) cond (%a: tensor<f32>) {
// CHECK-NEXT:   cf.cond_yield (%c, %a)
// CHECK-NEXT: } body (%b: tensor<f32>) {
// CHECK-NEXT:   %d = pd.add (%b, %x) : tensor<f32>
// CHECK-NEXT:   cf.yield (%d)
// CHECK-NEXT: } : tensor<f32>
// CHECK-NEXT: %0 = pd.print (%r) : tensor<f32>

// -----

// Arguments of blocks.
func.func @f(%c: tensor<i1>, %x: tensor<f32>) -> tensor<f32> {
  pd.branch ^loop(%x)
^loop(%p: tensor<f32>):
  pd.condition_branch %c, ^loop(%p), ^end(%p)
^end(%q: tensor<f32>):
  func.return (%q)
}

// CHECK: // Arguments of blocks.
// CHECK-NEXT: func.func @f(%c: tensor<i1>, %x: tensor<f32>) -> tensor<f32> {
// CHECK-NEXT:   pd.branch ^loop
// CHECK-NEXT: ^loop:
// CHECK-NEXT:   pd.condition_branch %c, ^loop, ^end
// CHECK-NEXT: ^end:
// CHECK-NEXT:   func.return (%x)
// CHECK-NEXT: }
