// RUN: pir-opt --pass=sink --split-input-file %s | FileCheck %s

// As deep as the only users.
%c = pd.data {name = "c", shape = [], dtype = i1} : tensor<i1>
%x = pd.data {name = "x", shape = [], dtype = f32} : tensor<f32>
%a = pd.add (%x, %x) : tensor<f32>
%b = pd.add (%a, %x) : tensor<f32>
%d = pd.add (%a, %a) : tensor<f32>
%r = pd.if (%c) then {
  %0 = pd.print (%d) : tensor<f32>
  %s = pd.if (%c) then {
    cf.yield (%x)
  } else {
    cf.yield (%b)
  } : tensor<f32>
  cf.yield (%s)
} else {
  cf.yield (%x)
} : tensor<f32>
%1 = pd.print (%r) : tensor<f32>

// CHECK: // As deep as the only users.
// CHECK-NEXT: %c = pd.data {name = "c", shape = [], dtype = i1} : tensor<i1>
// CHECK-NEXT: %x = pd.data {name = "x", shape = [], dtype = f32} : tensor<f32>
// CHECK-NEXT: %r = pd.if (%c) then {
// CHECK-NEXT:   %a = pd.add (%x, %x) : tensor<f32>
// CHECK-NEXT:   %d = pd.add (%a, %a) : tensor<f32>
// CHECK-NEXT:   %0 = pd.print (%d) : tensor<f32>
// CHECK-NEXT:   %s = pd.if (%c) then {
// CHECK-NEXT:     cf.yield (%x)
// CHECK-NEXT:   } else {
// CHECK-NEXT:     %b = pd.add (%a, %x) : tensor<f32>
// CHECK-NEXT:     cf.yield (%b)
// CHECK-NEXT:   } : tensor<f32>
// CHECK-NEXT:   cf.yield (%s)
// CHECK-NEXT: } else {
// CHECK-NEXT:   cf.yield (%x)
// CHECK-NEXT: } : tensor<f32>
// CHECK-NEXT: %1 = pd.print (%r) : tensor<f32>

// -----

// In front of a loop in a branch but never into it.
%c = pd.data {name = "c", shape = [], dtype = i1} : tensor<i1>
%x = pd.data {name = "x", shape = [], dtype = f32} : tensor<f32>
%a = pd.add (%x, %x) : tensor<f32>
%b = pd.add (%x, %x) : tensor<f32>
pd.if (%c) then {
  pd.while cond {
    cf.cond_yield (%c)
  } body {
    pd.if (%c) then {
      %0 = pd.print (%a) : tensor<f32>
      cf.yield ()
    } else {
      cf.yield ()
    }
    cf.yield ()
  }
  cf.yield ()
} else {
  cf.yield ()
}
pd.while cond {
  cf.cond_yield (%c)
} body {
  %1 = pd.print (%b) : tensor<f32>
  cf.yield ()
}

// CHECK: // In front of a loop in a branch but never into it.
// CHECK-NEXT: %c = pd.data {name = "c", shape = [], dtype = i1} : tensor<i1>
// CHECK-NEXT: %x = pd.data {name = "x", shape = [], dtype = f32} : tensor<f32>
// CHECK-NEXT: %b = pd.add (%x, %x) : tensor<f32>
// CHECK-NEXT: pd.if (%c) then {
// CHECK-NEXT:   %a = pd.add (%x, %x) : tensor<f32>
// CHECK-NEXT:   pd.while cond {
// CHECK-NEXT:     cf.cond_yield (%c)
// CHECK-NEXT:   } body {
// CHECK-NEXT:     pd.if (%c) then {
// CHECK-NEXT:       %0 = pd.print (%a) : tensor<f32>
// CHECK-NEXT:       cf.yield ()
// CHECK-NEXT:     } else {
// CHECK-NEXT:       cf.yield ()
// CHECK-NEXT:     }
// CHECK-NEXT:     cf.yield ()
// CHECK-NEXT:   }
// CHECK-NEXT:   cf.yield ()
// CHECK-NEXT: } else {
// CHECK-NEXT:   cf.yield ()
// CHECK-NEXT: }
// CHECK-NEXT: pd.while cond {
// CHECK-NEXT:   cf.cond_yield (%c)
// CHECK-NEXT: } body {
// CHECK-NEXT:   %1 = pd.print (%b) : tensor<f32>
// CHECK-NEXT:   cf.yield ()
// CHECK-NEXT: }

// -----

// Not values that both branches or others use, and no effects.
%c = pd.data {name = "c", shape = [], dtype = i1} : tensor<i1>
%x = pd.data {name = "x", shape = [], dtype = i64} : tensor<i64>
%both = pd.add (%x, %x) : tensor<i64>
%later = pd.floor_divide (%x, %x) : tensor<i64>
%go = pd.less_than (%x, %x) : tensor<i1>
%s = cf.create_stack () : cf.stack
cf.push_back (%s, %x)
%e = cf.is_empty (%s) : i1
%r = pd.if (%go) then {
  %0 = pd.print (%both) : tensor<i64>
  %1 = pd.print (%e) : i1
  cf.yield (%later)
} else {
  cf.yield (%both)
} : tensor<i64>
%2 = pd.print (%later) : tensor<i64>
%3 = pd.print (%r) : tensor<i64>

// CHECK: // Not values that both branches or others use, and no effects.
// CHECK-NEXT: %c = pd.data {name = "c", shape = [], dtype = i1} : tensor<i1>
// CHECK-NEXT: %x = pd.data {name = "x", shape = [], dtype = i64} : tensor<i64>
// CHECK-NEXT: %both = pd.add (%x, %x) : tensor<i64>
// CHECK-NEXT: %later = pd.floor_divide (%x, %x) : tensor<i64>
// CHECK-NEXT: %go = pd.less_than (%x, %x) : tensor<i1>
// CHECK-NEXT: %s = cf.create_stack () : cf.stack
// CHECK-NEXT: cf.push_back (%s, %x)
// CHECK-NEXT: %e = cf.is_empty (%s) : i1
// CHECK-NEXT: %r = pd.if (%go) then {
// CHECK-NEXT:   %0 = pd.print (%both) : tensor<i64>
// CHECK-NEXT:   %1 = pd.print (%e) : i1
// CHECK-NEXT:   cf.yield (%later)
// CHECK-NEXT: } else {
// CHECK-NEXT:   cf.yield (%both)
// CHECK-NEXT: } : tensor<i64>
// CHECK-NEXT: %2 = pd.print (%later) : tensor<i64>
// CHECK-NEXT: %3 = pd.print (%r) : tensor<i64>

// -----

// Whole branches and their operands.
%c = pd.data {name = "c", shape = [], dtype = i1} : tensor<i1>
%x = pd.data {name = "x", shape = [], dtype = f32} : tensor<f32>
%a = pd.add (%x, %x) : tensor<f32>
%w = pd.if (%c) then {
  cf.yield (%a)
} else {
  cf.yield (%x)
} : tensor<f32>
pd.if (%c) then {
  %0 = pd.print (%a) : tensor<f32>
  %1 = pd.print (%w) : tensor<f32>
  cf.yield ()
} else {
  cf.yield ()
}

// CHECK: // Whole branches and their operands.
// CHECK-NEXT: %c = pd.data {name = "c", shape = [], dtype = i1} : tensor<i1>
// CHECK-NEXT: %x = pd.data {name = "x", shape = [], dtype = f32} : tensor<f32>
// CHECK-NEXT: pd.if (%c) then {
// CHECK-NEXT:   %a = pd.add (%x, %x) : tensor<f32>
// CHECK-NEXT:   %w = pd.if (%c) then {
// CHECK-NEXT:     cf.yield (%a)
// CHECK-NEXT:   } else {
// CHECK-NEXT:     cf.yield (%x)
// CHECK-NEXT:   } : tensor<f32>
// CHECK-NEXT:   %0 = pd.print (%a) : tensor<f32>
// CHECK-NEXT:   %1 = pd.print (%w) : tensor<f32>
// CHECK-NEXT:   cf.yield ()
// CHECK-NEXT: } else {
// CHECK-NEXT:   cf.yield ()
// CHECK-NEXT: }
