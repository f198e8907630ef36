// RUN: pir-opt --pass=canonicalize %s | FileCheck %s
// NOTE: checks below are generated; regenerate with BLESS=1
// CHECK: // What must not become another.
// CHECK-NEXT: %c = pd.data {name = "c", shape = [1], dtype = i1} : tensor<1xi1>
// CHECK-NEXT: %n = pd.data {name = "n", shape = [1], dtype = i64} : tensor<1xi64>
// CHECK-NEXT: %x = pd.data {name = "x", shape = [4], dtype = f64} : tensor<4xf64>
// CHECK-NEXT: %big = pd.data {name = "big", shape = [1000], dtype = f64} : tensor<1000xf64>
// CHECK-NEXT: %y = pd.data {name = "y", shape = [1], dtype = f64} : tensor<1xf64>
// CHECK-NEXT: %s = cf.create_stack () : cf.stack
// CHECK-NEXT: // No pd.where: a division by zero would fail, a logarithm has no finite derivative at zero (and zero, the cotangent of a
// CHECK-NEXT: // branch that is not taken, times infinity is no number), a large tensor would be copied.
// CHECK-NEXT: %quotient = pd.if (%c) then {
// CHECK-NEXT:   %a = pd.floor_divide (%n, %n) : tensor<1xi64>
// CHECK-NEXT:   cf.yield (%a)
// CHECK-NEXT: } else {
// CHECK-NEXT:   cf.yield (%n)
// CHECK-NEXT: } : tensor<1xi64>
// CHECK-NEXT: pd.fetch (%quotient) {name = "quotient"}
// CHECK-NEXT: %log = pd.if (%c) then {
// CHECK-NEXT:   %a = pd.log (%x) : tensor<4xf64>
// CHECK-NEXT:   cf.yield (%a)
// CHECK-NEXT: } else {
// CHECK-NEXT:   cf.yield (%x)
// CHECK-NEXT: } : tensor<4xf64>
// CHECK-NEXT: pd.fetch (%log) {name = "log"}
// CHECK-NEXT: %zero = pd.full {shape = [1000], value = 0.0, dtype = f64} : tensor<1000xf64>
// CHECK-NEXT: %large = pd.if (%c) then {
// CHECK-NEXT:   cf.yield (%big)
// CHECK-NEXT: } else {
// CHECK-NEXT:   cf.yield (%zero)
// CHECK-NEXT: } : tensor<1000xf64>
// CHECK-NEXT: pd.fetch (%large) {name = "large"}
// CHECK-NEXT: // Not one branch: a print stands between.
// CHECK-NEXT: pd.if (%c) then {
// CHECK-NEXT:   cf.push_back (%s, %x)
// CHECK-NEXT:   cf.yield ()
// CHECK-NEXT: }
// CHECK-NEXT: %p = pd.print (%x) {message = "between"} : tensor<4xf64>
// CHECK-NEXT: pd.if (%c) then {
// CHECK-NEXT:   cf.push_back (%s, %x)
// CHECK-NEXT:   cf.yield ()
// CHECK-NEXT: }
// CHECK-NEXT: // Not the same: pushes in another order.
// CHECK-NEXT: %p2 = pd.print (%x) {message = "between too"} : tensor<4xf64>
// CHECK-NEXT: pd.if (%c) then {
// CHECK-NEXT:   cf.push_back (%s, %x)
// CHECK-NEXT:   cf.push_back (%s, %y)
// CHECK-NEXT:   cf.yield ()
// CHECK-NEXT: } else {
// CHECK-NEXT:   cf.push_back (%s, %y)
// CHECK-NEXT:   cf.push_back (%s, %x)
// CHECK-NEXT:   cf.yield ()
// CHECK-NEXT: }
// CHECK-NEXT: // That a comparison of floats does not hold does not mean that the opposite one does: there is NaN.
// CHECK-NEXT: %less = pd.less_than (%y, %y) : tensor<1xi1>
// CHECK-NEXT: %r = pd.if (%less) then {
// CHECK-NEXT:   %a = pd.tanh (%x) : tensor<4xf64>
// CHECK-NEXT:   cf.yield (%a)
// CHECK-NEXT: } else {
// CHECK-NEXT:   %at_least = pd.greater_equal (%y, %y) : tensor<1xi1>
// CHECK-NEXT:   %inner = pd.if (%at_least) then {
// CHECK-NEXT:     %a = pd.exp (%x) : tensor<4xf64>
// CHECK-NEXT:     cf.yield (%a)
// CHECK-NEXT:   } else {
// CHECK-NEXT:     %a = pd.sin (%x) : tensor<4xf64>
// CHECK-NEXT:     cf.yield (%a)
// CHECK-NEXT:   } : tensor<4xf64>
// CHECK-NEXT:   cf.yield (%inner)
// CHECK-NEXT: } : tensor<4xf64>
// CHECK-NEXT: pd.fetch (%r) {name = "r"}

// What must not become another.
%c = pd.data {name = "c", shape = [1], dtype = i1} : tensor<1xi1>
%n = pd.data {name = "n", shape = [1], dtype = i64} : tensor<1xi64>
%x = pd.data {name = "x", shape = [4], dtype = f64} : tensor<4xf64>
%big = pd.data {name = "big", shape = [1000], dtype = f64} : tensor<1000xf64>
%y = pd.data {name = "y", shape = [1], dtype = f64} : tensor<1xf64>
%s = cf.create_stack () : cf.stack

// No pd.where: a division by zero would fail, a logarithm has no finite derivative at zero (and zero, the cotangent of a
// branch that is not taken, times infinity is no number), a large tensor would be copied.
%quotient = pd.if (%c) then {
  %a = pd.floor_divide (%n, %n) : tensor<1xi64>
  cf.yield (%a)
} else {
  cf.yield (%n)
} : tensor<1xi64>
pd.fetch (%quotient) {name = "quotient"}
%log = pd.if (%c) then {
  %a = pd.log (%x) : tensor<4xf64>
  cf.yield (%a)
} else {
  cf.yield (%x)
} : tensor<4xf64>
pd.fetch (%log) {name = "log"}
%zero = pd.full {shape = [1000], value = 0.0, dtype = f64} : tensor<1000xf64>
%large = pd.if (%c) then {
  cf.yield (%big)
} else {
  cf.yield (%zero)
} : tensor<1000xf64>
pd.fetch (%large) {name = "large"}

// Not one branch: a print stands between.
pd.if (%c) then {
  cf.push_back (%s, %x)
}
%p = pd.print (%x) {message = "between"} : tensor<4xf64>
pd.if (%c) then {
  cf.push_back (%s, %x)
}

// Not the same: pushes in another order.
%p2 = pd.print (%x) {message = "between too"} : tensor<4xf64>
pd.if (%c) then {
  cf.push_back (%s, %x)
  cf.push_back (%s, %y)
} else {
  cf.push_back (%s, %y)
  cf.push_back (%s, %x)
}

// That a comparison of floats does not hold does not mean that the opposite one does: there is NaN.
%less = pd.less_than (%y, %y) : tensor<1xi1>
%r = pd.if (%less) then {
  %a = pd.tanh (%x) : tensor<4xf64>
  cf.yield (%a)
} else {
  %at_least = pd.greater_equal (%y, %y) : tensor<1xi1>
  %inner = pd.if (%at_least) then {
    %a = pd.exp (%x) : tensor<4xf64>
    cf.yield (%a)
  } else {
    %a = pd.sin (%x) : tensor<4xf64>
    cf.yield (%a)
  } : tensor<4xf64>
  cf.yield (%inner)
} : tensor<4xf64>
pd.fetch (%r) {name = "r"}
