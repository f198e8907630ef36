// RUN: pir-opt --pass=licm --split-input-file %s | FileCheck %s

// Out of both regions, with dependent operations.
%i = pd.data {name = "i", shape = [], dtype = i64} : tensor<i64>
%ten = pd.data {name = "ten", shape = [], dtype = i64} : tensor<i64>
%i_2 = pd.while (%i) cond (%arg1: tensor<i64>) {
  %k = pd.add (%ten, %ten) : tensor<i64>
  %go = pd.less_than (%arg1, %k) : tensor<i1>
  cf.cond_yield (%go, %arg1)
} body (%arg2: tensor<i64>) {
  %1 = pd.full {shape = [], value = 1, dtype = i64} : tensor<i64>
  %2 = pd.add (%1, %ten) : tensor<i64>
  %i_3 = pd.add (%arg2, %2) : tensor<i64>
  cf.yield (%i_3)
} : tensor<i64>
%3 = pd.print (%i_2) : tensor<i64>

// CHECK: // Out of both regions, with dependent operations.
// CHECK-NEXT: %i = pd.data {name = "i", shape = [], dtype = i64} : tensor<i64>
// CHECK-NEXT: %ten = pd.data {name = "ten", shape = [], dtype = i64} : tensor<i64>
// CHECK-NEXT: %k = pd.add (%ten, %ten) : tensor<i64>
// CHECK-NEXT: %1 = pd.full {shape = [], value = 1, dtype = i64} : tensor<i64>
// CHECK-NEXT: %2 = pd.add (%1, %ten) : tensor<i64>
// CHECK-NEXT: %i_2 = pd.while (%i) cond (%arg1: tensor<i64>) {
// CHECK-NEXT:   %go = pd.less_than (%arg1, %k) : tensor<i1>
// CHECK-NEXT:   cf.cond_yield (%go, %arg1)
// CHECK-NEXT: } body (%arg2: tensor<i64>) {
// CHECK-NEXT:   %i_3 = pd.add (%arg2, %2) : tensor<i64>
// CHECK-NEXT:   cf.yield (%i_3)
// CHECK-NEXT: } : tensor<i64>
// CHECK-NEXT: %3 = pd.print (%i_2) : tensor<i64>

// -----

// Out of several loops at once as far as operands allow.
%c = pd.data {name = "c", shape = [], dtype = i1} : tensor<i1>
%x = pd.data {name = "x", shape = [], dtype = f32} : tensor<f32>
%r = pd.while (%x) cond (%a: tensor<f32>) {
  cf.cond_yield (%c, %a)
} body (%b: tensor<f32>) {
  pd.while cond {
    cf.cond_yield (%c)
  } body {
    %all = pd.add (%x, %x) : tensor<f32>
    %one = pd.add (%b, %all) : tensor<f32>
    %0 = pd.print (%one) : tensor<f32>
    cf.yield ()
  }
  cf.yield (%b)
} : tensor<f32>

// CHECK: // Out of several loops at once as far as operands allow.
// CHECK-NEXT: %c = pd.data {name = "c", shape = [], dtype = i1} : tensor<i1>
// CHECK-NEXT: %x = pd.data {name = "x", shape = [], dtype = f32} : tensor<f32>
// CHECK-NEXT: %all = pd.add (%x, %x) : tensor<f32>
// CHECK-NEXT: %r = pd.while (%x) cond (%a: tensor<f32>) {
// CHECK-NEXT:   cf.cond_yield (%c, %a)
// CHECK-NEXT: } body (%b: tensor<f32>) {
// CHECK-NEXT:   %one = pd.add (%b, %all) : tensor<f32>
// CHECK-NEXT:   pd.while cond {
// CHECK-NEXT:     cf.cond_yield (%c)
// CHECK-NEXT:   } body {
// CHECK-NEXT:     %0 = pd.print (%one) : tensor<f32>
// CHECK-NEXT:     cf.yield ()
// CHECK-NEXT:   }
// CHECK-NEXT:   cf.yield (%b)
// CHECK-NEXT: } : tensor<f32>

// -----

// Operations that may fail are hoisted only if they are certain to run.
// The body may run zero times.
%c = pd.data {name = "c", shape = [], dtype = i1} : tensor<i1>
%x = pd.data {name = "x", shape = [], dtype = i64} : tensor<i64>
pd.while cond {
  cf.cond_yield (%c)
} body {
  %d = pd.floor_divide (%x, %x) : tensor<i64>
  %0 = pd.print (%d) : tensor<i64>
  cf.yield ()
}

// CHECK: // Operations that may fail are hoisted only if they are certain to run.
// CHECK-NEXT: // The body may run zero times.
// CHECK-NEXT: %c = pd.data {name = "c", shape = [], dtype = i1} : tensor<i1>
// CHECK-NEXT: %x = pd.data {name = "x", shape = [], dtype = i64} : tensor<i64>
// CHECK-NEXT: pd.while cond {
// CHECK-NEXT:   cf.cond_yield (%c)
// CHECK-NEXT: } body {
// CHECK-NEXT:   %d = pd.floor_divide (%x, %x) : tensor<i64>
// CHECK-NEXT:   %0 = pd.print (%d) : tensor<i64>
// CHECK-NEXT:   cf.yield ()
// CHECK-NEXT: }

// -----

// Operations that may fail are hoisted only if they are certain to run.
// The cond region runs at least once.
%c = pd.data {name = "c", shape = [], dtype = i1} : tensor<i1>
%x = pd.data {name = "x", shape = [], dtype = i64} : tensor<i64>
%r = pd.while cond {
  %d = pd.floor_divide (%x, %x) : tensor<i64>
  %0 = pd.print (%d) : tensor<i64>
  %e = pd.floor_divide (%d, %x) : tensor<i64>
  cf.cond_yield (%c, %e)
} body (%b: tensor<i64>) {
  cf.yield ()
} : tensor<i64>

// CHECK: // Operations that may fail are hoisted only if they are certain to run.
// CHECK-NEXT: // The cond region runs at least once.
// CHECK-NEXT: %c = pd.data {name = "c", shape = [], dtype = i1} : tensor<i1>
// CHECK-NEXT: %x = pd.data {name = "x", shape = [], dtype = i64} : tensor<i64>
// CHECK-NEXT: %d = pd.floor_divide (%x, %x) : tensor<i64>
// CHECK-NEXT: %r = pd.while cond {
// CHECK-NEXT:   %0 = pd.print (%d) : tensor<i64>
// CHECK-NEXT:   %e = pd.floor_divide (%d, %x) : tensor<i64>
// CHECK-NEXT:   cf.cond_yield (%c, %e)
// CHECK-NEXT: } body (%b: tensor<i64>) {
// CHECK-NEXT:   cf.yield ()
// CHECK-NEXT: } : tensor<i64>

// -----

// Each iteration allocates its resources.
%c = pd.data {name = "c", shape = [], dtype = i1} : tensor<i1>
pd.while cond {
  %s = cf.create_stack () : cf.stack
  cf.push_back (%s, %c)
  %e = cf.is_empty (%s) : i1
  cf.cond_yield (%e)
} body {
  cf.yield ()
}

// CHECK: // Each iteration allocates its resources.
// CHECK-NEXT: %c = pd.data {name = "c", shape = [], dtype = i1} : tensor<i1>
// CHECK-NEXT: pd.while cond {
// CHECK-NEXT:   %s = cf.create_stack () : cf.stack
// CHECK-NEXT:   cf.push_back (%s, %c)
// CHECK-NEXT:   %e = cf.is_empty (%s) : i1
// CHECK-NEXT:   cf.cond_yield (%e)
// CHECK-NEXT: } body {
// CHECK-NEXT:   cf.yield ()
// CHECK-NEXT: }

// -----

// Whole branches, and invariants of others.
%c = pd.data {name = "c", shape = [], dtype = i1} : tensor<i1>
%x = pd.data {name = "x", shape = [], dtype = f32} : tensor<f32>
%r = pd.while (%x) cond (%a: tensor<f32>) {
  cf.cond_yield (%c, %a)
} body (%b: tensor<f32>) {
  %whole = pd.if (%c) then {
    %p = pd.add (%x, %x) : tensor<f32>
    cf.yield (%p)
  } else {
    cf.yield (%x)
  } : tensor<f32>
  %part = pd.if (%c) then {
    %q = pd.add (%whole, %x) : tensor<f32>
    %q2 = pd.add (%q, %b) : tensor<f32>
    cf.yield (%q2)
  } else {
    cf.yield (%b)
  } : tensor<f32>
  cf.yield (%part)
} : tensor<f32>

// CHECK: // Whole branches, and invariants of others.
// CHECK-NEXT: %c = pd.data {name = "c", shape = [], dtype = i1} : tensor<i1>
// CHECK-NEXT: %x = pd.data {name = "x", shape = [], dtype = f32} : tensor<f32>
// CHECK-NEXT: %whole = pd.if (%c) then {
// CHECK-NEXT:   %p = pd.add (%x, %x) : tensor<f32>
// CHECK-NEXT:   cf.yield (%p)
// CHECK-NEXT: } else {
// CHECK-NEXT:   cf.yield (%x)
// CHECK-NEXT: } : tensor<f32>
// CHECK-NEXT: %q = pd.add (%whole, %x) : tensor<f32>
// CHECK-NEXT: %r = pd.while (%x) cond (%a: tensor<f32>) {
// CHECK-NEXT:   cf.cond_yield (%c, %a)
// CHECK-NEXT: } body (%b: tensor<f32>) {
// CHECK-NEXT:   %part = pd.if (%c) then {
// CHECK-NEXT:     %q2 = pd.add (%q, %b) : tensor<f32>
// CHECK-NEXT:     cf.yield (%q2)
// CHECK-NEXT:   } else {
// CHECK-NEXT:     cf.yield (%b)
// CHECK-NEXT:   } : tensor<f32>
// CHECK-NEXT:   cf.yield (%part)
// CHECK-NEXT: } : tensor<f32>

// -----

// Whole branches, and invariants of others.
// A branch with something in it that may fail is not run before the loop runs.
%c = pd.data {name = "c", shape = [], dtype = i1} : tensor<i1>
%x = pd.data {name = "x", shape = [], dtype = i64} : tensor<i64>
pd.while cond {
  cf.cond_yield (%c)
} body {
  %r = pd.if (%c) then {
    %d = pd.floor_divide (%x, %x) : tensor<i64>
    cf.yield (%d)
  } else {
    cf.yield (%x)
  } : tensor<i64>
  %0 = pd.print (%r) : tensor<i64>
  cf.yield ()
}

// CHECK: // Whole branches, and invariants of others.
// CHECK-NEXT: // A branch with something in it that may fail is not run before the loop runs.
// CHECK-NEXT: %c = pd.data {name = "c", shape = [], dtype = i1} : tensor<i1>
// CHECK-NEXT: %x = pd.data {name = "x", shape = [], dtype = i64} : tensor<i64>
// CHECK-NEXT: pd.while cond {
// CHECK-NEXT:   cf.cond_yield (%c)
// CHECK-NEXT: } body {
// CHECK-NEXT:   %r = pd.if (%c) then {
// CHECK-NEXT:     %d = pd.floor_divide (%x, %x) : tensor<i64>
// CHECK-NEXT:     cf.yield (%d)
// CHECK-NEXT:   } else {
// CHECK-NEXT:     cf.yield (%x)
// CHECK-NEXT:   } : tensor<i64>
// CHECK-NEXT:   %0 = pd.print (%r) : tensor<i64>
// CHECK-NEXT:   cf.yield ()
// CHECK-NEXT: }

// -----

// A branch in a branch that captures a middle level.
// The inner branch of the branch uses %b of the outer loop: it leaves the inner loop only.
%c = pd.data {name = "c", shape = [], dtype = i1} : tensor<i1>
%x = pd.data {name = "x", shape = [], dtype = f32} : tensor<f32>
%r = pd.while (%x) cond (%a: tensor<f32>) {
  cf.cond_yield (%c, %a)
} body (%b: tensor<f32>) {
  pd.while cond {
    cf.cond_yield (%c)
  } body {
    %o = pd.if (%c) then {
      %i = pd.if (%c) then {
        %p = pd.add (%b, %x) : tensor<f32>
        cf.yield (%p)
      } else {
        cf.yield (%x)
      } : tensor<f32>
      cf.yield (%i)
    } else {
      cf.yield (%x)
    } : tensor<f32>
    %0 = pd.print (%o) : tensor<f32>
    cf.yield ()
  }
  cf.yield (%b)
} : tensor<f32>

// CHECK: // A branch in a branch that captures a middle level.
// CHECK-NEXT: // The inner branch of the branch uses %b of the outer loop: it leaves the inner loop only.
// CHECK-NEXT: %c = pd.data {name = "c", shape = [], dtype = i1} : tensor<i1>
// CHECK-NEXT: %x = pd.data {name = "x", shape = [], dtype = f32} : tensor<f32>
// CHECK-NEXT: %r = pd.while (%x) cond (%a: tensor<f32>) {
// CHECK-NEXT:   cf.cond_yield (%c, %a)
// CHECK-NEXT: } body (%b: tensor<f32>) {
// CHECK-NEXT:   %o = pd.if (%c) then {
// CHECK-NEXT:     %i = pd.if (%c) then {
// CHECK-NEXT:       %p = pd.add (%b, %x) : tensor<f32>
// CHECK-NEXT:       cf.yield (%p)
// CHECK-NEXT:     } else {
// CHECK-NEXT:       cf.yield (%x)
// CHECK-NEXT:     } : tensor<f32>
// CHECK-NEXT:     cf.yield (%i)
// CHECK-NEXT:   } else {
// CHECK-NEXT:     cf.yield (%x)
// CHECK-NEXT:   } : tensor<f32>
// CHECK-NEXT:   pd.while cond {
// CHECK-NEXT:     cf.cond_yield (%c)
// CHECK-NEXT:   } body {
// CHECK-NEXT:     %0 = pd.print (%o) : tensor<f32>
// CHECK-NEXT:     cf.yield ()
// CHECK-NEXT:   }
// CHECK-NEXT:   cf.yield (%b)
// CHECK-NEXT: } : tensor<f32>
