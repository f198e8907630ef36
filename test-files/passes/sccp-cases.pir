// RUN: pir-opt --pass=sccp --split-input-file %s | FileCheck %s

// A value that is constant as long as it is assumed to be.
// Each next value of %a is computed from a branch that is not taken while it is 1.
%c = pd.data {name = "c", shape = [], dtype = i1} : tensor<i1>
%one = pd.full {shape = [], value = 1, dtype = i64} : tensor<i64>
%two = pd.full {shape = [], value = 2, dtype = i64} : tensor<i64>
%r = pd.while (%one) cond (%a: tensor<i64>) {
  cf.cond_yield (%c, %a)
} body (%b: tensor<i64>) {
  %same = pd.less_than (%b, %two) : tensor<i1>
  %next = pd.if (%same) then {
    %zero = pd.full {shape = [], value = 0, dtype = i64} : tensor<i64>
    %sum = pd.add (%b, %zero) : tensor<i64>
    cf.yield (%sum)
  } else {
    %0 = pd.print (%b) : tensor<i64>
    cf.yield (%two)
  } : tensor<i64>
  %1 = pd.print (%next) : tensor<i64>
  cf.yield (%next)
} : tensor<i64>
%2 = pd.print (%r) : tensor<i64>

// CHECK: // A value that is constant as long as it is assumed to be.
// CHECK-NEXT: // Each next value of %a is computed from a branch that is not taken while it is 1.
// CHECK-NEXT: %c = pd.data {name = "c", shape = [], dtype = i1} : tensor<i1>
// CHECK-NEXT: %one = pd.full {shape = [], value = 1, dtype = i64} : tensor<i64>
// CHECK-NEXT: %two = pd.full {shape = [], value = 2, dtype = i64} : tensor<i64>
// CHECK-NEXT: %r = pd.full {shape = [], value = 1, dtype = i64} : tensor<i64>
// CHECK-NEXT: %r_1 = pd.while (%one) cond (%a: tensor<i64>) {
// CHECK-NEXT:   %a_1 = pd.full {shape = [], value = 1, dtype = i64} : tensor<i64>
// CHECK-NEXT:   cf.cond_yield (%c, %a_1)
// CHECK-NEXT: } body (%b: tensor<i64>) {
// CHECK-NEXT:   %b_1 = pd.full {shape = [], value = 1, dtype = i64} : tensor<i64>
// CHECK-NEXT:   %same = pd.full {shape = [], value = true, dtype = i1} : tensor<i1>
// CHECK-NEXT:   %next = pd.full {shape = [], value = 1, dtype = i64} : tensor<i64>
// CHECK-NEXT:   %next_1 = pd.if (%same) then {
// CHECK-NEXT:     %zero = pd.full {shape = [], value = 0, dtype = i64} : tensor<i64>
// CHECK-NEXT:     %sum = pd.full {shape = [], value = 1, dtype = i64} : tensor<i64>
// CHECK-NEXT:     cf.yield (%sum)
// CHECK-NEXT:   } else {
// CHECK-NEXT:     %0 = pd.print (%b_1) : tensor<i64>
// CHECK-NEXT:     cf.yield (%two)
// CHECK-NEXT:   } : tensor<i64>
// CHECK-NEXT:   %1 = pd.print (%next) : tensor<i64>
// CHECK-NEXT:   cf.yield (%next)
// CHECK-NEXT: } : tensor<i64>
// CHECK-NEXT: %2 = pd.print (%r) : tensor<i64>

// -----

// A counter and what is computed from it vary.
%zero = pd.full {shape = [], value = 0, dtype = i64} : tensor<i64>
%one = pd.full {shape = [], value = 1, dtype = i64} : tensor<i64>
%ten = pd.full {shape = [], value = 10, dtype = i64} : tensor<i64>
%r = pd.while (%zero) cond (%a: tensor<i64>) {
  %go = pd.less_than (%a, %ten) : tensor<i1>
  cf.cond_yield (%go, %a)
} body (%b: tensor<i64>) {
  %next = pd.add (%b, %one) : tensor<i64>
  cf.yield (%next)
} : tensor<i64>
%0 = pd.print (%r) : tensor<i64>

// CHECK: // A counter and what is computed from it vary.
// CHECK-NEXT: %zero = pd.full {shape = [], value = 0, dtype = i64} : tensor<i64>
// CHECK-NEXT: %one = pd.full {shape = [], value = 1, dtype = i64} : tensor<i64>
// CHECK-NEXT: %ten = pd.full {shape = [], value = 10, dtype = i64} : tensor<i64>
// CHECK-NEXT: %r = pd.while (%zero) cond (%a: tensor<i64>) {
// CHECK-NEXT:   %go = pd.less_than (%a, %ten) : tensor<i1>
// CHECK-NEXT:   cf.cond_yield (%go, %a)
// CHECK-NEXT: } body (%b: tensor<i64>) {
// CHECK-NEXT:   %next = pd.add (%b, %one) : tensor<i64>
// CHECK-NEXT:   cf.yield (%next)
// CHECK-NEXT: } : tensor<i64>
// CHECK-NEXT: %0 = pd.print (%r) : tensor<i64>

// -----

// A loop that does not run changes nothing.
%one = pd.full {shape = [], value = 1, dtype = i64} : tensor<i64>
%r = pd.while (%one) cond (%a: tensor<i64>) {
  %go = pd.less_than (%a, %a) : tensor<i1>
  cf.cond_yield (%go, %a)
} body (%b: tensor<i64>) {
  %x = pd.data {name = "x", shape = [], dtype = i64} : tensor<i64>
  cf.yield (%x)
} : tensor<i64>
%0 = pd.print (%r) : tensor<i64>

// CHECK: // A loop that does not run changes nothing.
// CHECK-NEXT: %one = pd.full {shape = [], value = 1, dtype = i64} : tensor<i64>
// CHECK-NEXT: %r = pd.full {shape = [], value = 1, dtype = i64} : tensor<i64>
// CHECK-NEXT: %r_1 = pd.while (%one) cond (%a: tensor<i64>) {
// CHECK-NEXT:   %a_1 = pd.full {shape = [], value = 1, dtype = i64} : tensor<i64>
// CHECK-NEXT:   %go = pd.full {shape = [], value = false, dtype = i1} : tensor<i1>
// CHECK-NEXT:   cf.cond_yield (%go, %a_1)
// CHECK-NEXT: } body (%b: tensor<i64>) {
// CHECK-NEXT:   %x = pd.data {name = "x", shape = [], dtype = i64} : tensor<i64>
// CHECK-NEXT:   cf.yield (%x)
// CHECK-NEXT: } : tensor<i64>
// CHECK-NEXT: %0 = pd.print (%r) : tensor<i64>

// -----

// Branches that agree and that do not.
%c = pd.data {name = "c", shape = [], dtype = i1} : tensor<i1>
%r, %s = pd.if (%c) then {
  %p = pd.full {shape = [], value = 2, dtype = i64} : tensor<i64>
  cf.yield (%p, %p)
} else {
  %one = pd.full {shape = [], value = 1, dtype = i64} : tensor<i64>
  %q = pd.add (%one, %one) : tensor<i64>
  cf.yield (%q, %one)
} : tensor<i64>, tensor<i64>
%t = pd.add (%r, %r) : tensor<i64>
%0 = pd.print (%t) : tensor<i64>
%1 = pd.print (%s) : tensor<i64>

// CHECK: // Branches that agree and that do not.
// CHECK-NEXT: %c = pd.data {name = "c", shape = [], dtype = i1} : tensor<i1>
// CHECK-NEXT: %r = pd.full {shape = [], value = 2, dtype = i64} : tensor<i64>
// CHECK-NEXT: %r_1, %s = pd.if (%c) then {
// CHECK-NEXT:   %p = pd.full {shape = [], value = 2, dtype = i64} : tensor<i64>
// CHECK-NEXT:   cf.yield (%p, %p)
// CHECK-NEXT: } else {
// CHECK-NEXT:   %one = pd.full {shape = [], value = 1, dtype = i64} : tensor<i64>
// CHECK-NEXT:   %q = pd.full {shape = [], value = 2, dtype = i64} : tensor<i64>
// CHECK-NEXT:   cf.yield (%q, %one)
// CHECK-NEXT: } : tensor<i64>, tensor<i64>
// CHECK-NEXT: %t = pd.full {shape = [], value = 4, dtype = i64} : tensor<i64>
// CHECK-NEXT: %0 = pd.print (%t) : tensor<i64>
// CHECK-NEXT: %1 = pd.print (%s) : tensor<i64>

// -----

// Blocks.
func.func @f(%x: tensor<i64>) -> tensor<i64> {
  %one = pd.full {shape = [], value = 1, dtype = i64} : tensor<i64>
  pd.branch ^loop(%one)
^loop(%a: tensor<i64>):
  %two = pd.full {shape = [], value = 2, dtype = i64} : tensor<i64>
  %low = pd.less_than (%a, %two) : tensor<i1>
  pd.condition_branch %low, ^same, ^other
^same:
  %c = pd.less_than (%x, %a) : tensor<i1>
  pd.condition_branch %c, ^loop(%a), ^end(%a, %x)
^other:
  pd.branch ^loop(%x)
^end(%r: tensor<i64>, %y: tensor<i64>):
  %s = pd.add (%r, %y) : tensor<i64>
  func.return (%s)
}

// CHECK: // Blocks.
// CHECK-NEXT: func.func @f(%x: tensor<i64>) -> tensor<i64> {
// CHECK-NEXT:   %one = pd.full {shape = [], value = 1, dtype = i64} : tensor<i64>
// CHECK-NEXT:   pd.branch ^loop(%one)
// CHECK-NEXT: ^loop(%a: tensor<i64>):
// CHECK-NEXT:   %a_1 = pd.full {shape = [], value = 1, dtype = i64} : tensor<i64>
// CHECK-NEXT:   %two = pd.full {shape = [], value = 2, dtype = i64} : tensor<i64>
// CHECK-NEXT:   %low = pd.full {shape = [], value = true, dtype = i1} : tensor<i1>
// CHECK-NEXT:   pd.condition_branch %low, ^same, ^other
// CHECK-NEXT: ^same:
// CHECK-NEXT:   %c = pd.less_than (%x, %a_1) : tensor<i1>
// CHECK-NEXT:   pd.condition_branch %c, ^loop(%a_1), ^end(%a_1, %x)
// CHECK-NEXT: ^other:
// CHECK-NEXT:   pd.branch ^loop(%x)
// CHECK-NEXT: ^end(%r: tensor<i64>, %y: tensor<i64>):
// CHECK-NEXT:   %r_1 = pd.full {shape = [], value = 1, dtype = i64} : tensor<i64>
// CHECK-NEXT:   %s = pd.add (%r_1, %y) : tensor<i64>
// CHECK-NEXT:   func.return (%s)
// CHECK-NEXT: }

// -----

// The arguments of a function vary.
func.func @f(%x: tensor<i64>) -> tensor<i64> {
  %one = pd.full {shape = [], value = 1, dtype = i64} : tensor<i64>
  %s = pd.add (%x, %one) : tensor<i64>
  func.return (%s)
}

// CHECK: // The arguments of a function vary.
// CHECK-NEXT: func.func @f(%x: tensor<i64>) -> tensor<i64> {
// CHECK-NEXT:   %one = pd.full {shape = [], value = 1, dtype = i64} : tensor<i64>
// CHECK-NEXT:   %s = pd.add (%x, %one) : tensor<i64>
// CHECK-NEXT:   func.return (%s)
// CHECK-NEXT: }
