// RUN: pir-opt --pass=canonicalize --split-input-file %s | FileCheck %s

// Folds, and operations that become dead.
%x = pd.data {name = "x", shape = [], dtype = i64} : tensor<i64>
%zero = pd.full {shape = [], value = 0, dtype = i64} : tensor<i64>
%two = pd.full {shape = [], value = 2, dtype = i64} : tensor<i64>
%y = pd.add (%x, %zero) : tensor<i64>
%four = pd.add (%two, %two) : tensor<i64>
%six = pd.add (%four, %two) : tensor<i64>
%z = pd.add (%y, %six) : tensor<i64>
%dead = pd.add (%z, %z) : tensor<i64>
%0 = pd.print (%z) : tensor<i64>

// CHECK: // Folds, and operations that become dead.
// CHECK-NEXT: %x = pd.data {name = "x", shape = [], dtype = i64} : tensor<i64>
// CHECK-NEXT: %six = pd.full {shape = [], value = 6, dtype = i64} : tensor<i64>
// CHECK-NEXT: %z = pd.add (%x, %six) : tensor<i64>
// CHECK-NEXT: %0 = pd.print (%z) : tensor<i64>

// -----

// A loop that does not run.
%n = pd.full {shape = [], value = 3, dtype = i64} : tensor<i64>
%x = pd.data {name = "x", shape = [], dtype = i64} : tensor<i64>
%r, %s, %k = pd.while (%n, %x) cond (%i: tensor<i64>, %a: tensor<i64>) {
  %b = pd.add (%a, %a) : tensor<i64>
  %0 = pd.print (%b) : tensor<i64>
  %one = pd.full {shape = [], value = 1, dtype = i64} : tensor<i64>
  %j = pd.add (%i, %one) : tensor<i64>
  %go = pd.less_than (%j, %n) : tensor<i1>
  cf.cond_yield (%go, %i, %b, %a)
} body (%p: tensor<i64>, %q: tensor<i64>, %u: tensor<i64>) {
  cf.yield (%p, %q)
} : tensor<i64>, tensor<i64>, tensor<i64>
%1 = pd.print (%r) : tensor<i64>
%2 = pd.print (%s) : tensor<i64>
%3 = pd.print (%k) : tensor<i64>

// CHECK: // A loop that does not run.
// CHECK-NEXT: %n = pd.full {shape = [], value = 3, dtype = i64} : tensor<i64>
// CHECK-NEXT: %x = pd.data {name = "x", shape = [], dtype = i64} : tensor<i64>
// CHECK-NEXT: %b = pd.add (%x, %x) : tensor<i64>
// CHECK-NEXT: %0 = pd.print (%b) : tensor<i64>
// CHECK-NEXT: %1 = pd.print (%n) : tensor<i64>
// CHECK-NEXT: %2 = pd.print (%b) : tensor<i64>
// CHECK-NEXT: %3 = pd.print (%x) : tensor<i64>

// -----

// Folding a condition inlines the branch that it selects.
%x = pd.data {name = "x", shape = [], dtype = i64} : tensor<i64>
%one = pd.full {shape = [], value = 1, dtype = i64} : tensor<i64>
%two = pd.full {shape = [], value = 2, dtype = i64} : tensor<i64>
%c = pd.less_than (%one, %two) : tensor<i1>
%r = pd.if (%c) then {
  %d = pd.less_than (%two, %one) : tensor<i1>
  %s = pd.if (%d) then {
    cf.yield (%one)
  } else {
    cf.yield (%x)
  } : tensor<i64>
  cf.yield (%s)
} else {
  cf.yield (%one)
} : tensor<i64>
%0 = pd.print (%r) : tensor<i64>

// CHECK: // Folding a condition inlines the branch that it selects.
// CHECK-NEXT: %x = pd.data {name = "x", shape = [], dtype = i64} : tensor<i64>
// CHECK-NEXT: %0 = pd.print (%x) : tensor<i64>
