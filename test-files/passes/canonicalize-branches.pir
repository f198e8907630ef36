// RUN: pir-opt --pass=canonicalize %s | FileCheck %s
// NOTE: checks below are generated; regenerate with BLESS=1
// CHECK: %c = pd.data {name = "c", shape = [1], dtype = i1} : tensor<1xi1>
// CHECK-NEXT: %d = pd.data {name = "d", shape = [1], dtype = i1} : tensor<1xi1>
// CHECK-NEXT: %x = pd.data {name = "x", shape = [4], dtype = f64} : tensor<4xf64>
// CHECK-NEXT: %y = pd.data {name = "y", shape = [4], dtype = f64} : tensor<4xf64>
// CHECK-NEXT: // A negated condition swaps the branches.
// CHECK-NEXT: %negated = pd.if (%c) then {
// CHECK-NEXT:   %b = pd.exp (%x) : tensor<4xf64>
// CHECK-NEXT:   cf.yield (%b)
// CHECK-NEXT: } else {
// CHECK-NEXT:   %a = pd.tanh (%x) : tensor<4xf64>
// CHECK-NEXT:   cf.yield (%a)
// CHECK-NEXT: } : tensor<4xf64>
// CHECK-NEXT: pd.fetch (%negated) {name = "negated"}
// CHECK-NEXT: %q = pd.logical_not (%c) : tensor<1xi1>
// CHECK-NEXT: // Results that are true and false are the condition and its negation, results that do not differ are no results, and
// CHECK-NEXT: // results that nobody reads go.
// CHECK-NEXT: pd.if (%c) then {
// CHECK-NEXT:   %a = pd.tanh (%x) : tensor<4xf64>
// CHECK-NEXT:   %a2 = pd.print (%a) {message = "then"} : tensor<4xf64>
// CHECK-NEXT:   cf.yield ()
// CHECK-NEXT: }
// CHECK-NEXT: pd.fetch (%c) {name = "p"}
// CHECK-NEXT: pd.fetch (%q) {name = "q"}
// CHECK-NEXT: pd.fetch (%x) {name = "r"}
// CHECK-NEXT: %a = pd.sin (%y) : tensor<4xf64>
// CHECK-NEXT: %a2 = pd.print (%a) {message = "both"} : tensor<4xf64>
// CHECK-NEXT: pd.fetch (%a2) {name = "same"}
// CHECK-NEXT: %a_1 = pd.add (%x, %y) : tensor<4xf64>
// CHECK-NEXT: %selected = pd.where (%c, %a_1, %x) : tensor<4xf64>
// CHECK-NEXT: pd.fetch (%selected) {name = "selected"}
// CHECK-NEXT: // The condition is known inside, also in a nested branch.
// CHECK-NEXT: %nested = pd.if (%c) then {
// CHECK-NEXT:   %e = pd.exp (%y) : tensor<4xf64>
// CHECK-NEXT:   %inner = pd.if (%d) then {
// CHECK-NEXT:     %deeper = pd.tanh (%e) : tensor<4xf64>
// CHECK-NEXT:     cf.yield (%deeper)
// CHECK-NEXT:   } else {
// CHECK-NEXT:     cf.yield (%e)
// CHECK-NEXT:   } : tensor<4xf64>
// CHECK-NEXT:   cf.yield (%inner)
// CHECK-NEXT: } else {
// CHECK-NEXT:   cf.yield (%x)
// CHECK-NEXT: } : tensor<4xf64>
// CHECK-NEXT: pd.fetch (%nested) {name = "nested"}
// CHECK-NEXT: %0 = pd.logical_and (%c, %d) : tensor<1xi1>
// CHECK-NEXT: // Without else, two branches are one on both conditions; the next one, on the opposite of the last condition, joins the
// CHECK-NEXT: // one after it.
// CHECK-NEXT: pd.if (%0) then {
// CHECK-NEXT:   %s = pd.print (%x) {message = "c and d"} : tensor<4xf64>
// CHECK-NEXT:   cf.yield ()
// CHECK-NEXT: }
%c = pd.data {name = "c", shape = [1], dtype = i1} : tensor<1xi1>
%d = pd.data {name = "d", shape = [1], dtype = i1} : tensor<1xi1>
%x = pd.data {name = "x", shape = [4], dtype = f64} : tensor<4xf64>
%y = pd.data {name = "y", shape = [4], dtype = f64} : tensor<4xf64>
%true = pd.full {shape = [1], value = true, dtype = i1} : tensor<1xi1>
%false = pd.full {shape = [1], value = false, dtype = i1} : tensor<1xi1>
%not = pd.logical_not (%c) : tensor<1xi1>

// A negated condition swaps the branches.
%negated = pd.if (%not) then {
  %a = pd.tanh (%x) : tensor<4xf64>
  cf.yield (%a)
} else {
  %b = pd.exp (%x) : tensor<4xf64>
  cf.yield (%b)
} : tensor<4xf64>
pd.fetch (%negated) {name = "negated"}

// Results that are true and false are the condition and its negation, results that do not differ are no results, and
// results that nobody reads go.
%p, %q, %r, %unused = pd.if (%c) then {
  %a = pd.tanh (%x) : tensor<4xf64>
  %a2 = pd.print (%a) {message = "then"} : tensor<4xf64>
  cf.yield (%true, %false, %x, %a)
} else {
  cf.yield (%false, %true, %x, %y)
} : tensor<1xi1>, tensor<1xi1>, tensor<4xf64>, tensor<4xf64>
pd.fetch (%p) {name = "p"}
pd.fetch (%q) {name = "q"}
pd.fetch (%r) {name = "r"}

// Both branches do the same.
%same = pd.if (%c) then {
  %a = pd.sin (%y) : tensor<4xf64>
  %a2 = pd.print (%a) {message = "both"} : tensor<4xf64>
  cf.yield (%a2)
} else {
  %b = pd.sin (%y) : tensor<4xf64>
  %b2 = pd.print (%b) {message = "both"} : tensor<4xf64>
  cf.yield (%b2)
} : tensor<4xf64>
pd.fetch (%same) {name = "same"}

// Hardly anything is computed.
%selected = pd.if (%c) then {
  %a = pd.add (%x, %y) : tensor<4xf64>
  cf.yield (%a)
} else {
  cf.yield (%x)
} : tensor<4xf64>
pd.fetch (%selected) {name = "selected"}

// The condition is known inside, also in a nested branch.
%nested = pd.if (%c) then {
  %e = pd.exp (%y) : tensor<4xf64>
  %inner = pd.if (%d) then {
    %deep = pd.if (%c) then {
      cf.yield (%e)
    } else {
      %never = pd.cos (%e) : tensor<4xf64>
      cf.yield (%never)
    } : tensor<4xf64>
    %deeper = pd.tanh (%deep) : tensor<4xf64>
    cf.yield (%deeper)
  } else {
    cf.yield (%e)
  } : tensor<4xf64>
  cf.yield (%inner)
} else {
  cf.yield (%x)
} : tensor<4xf64>
pd.fetch (%nested) {name = "nested"}

// Without else, two branches are one on both conditions; the next one, on the opposite of the last condition, joins the
// one after it.
pd.if (%c) then {
  pd.if (%d) then {
    %s = pd.print (%x) {message = "c and d"} : tensor<4xf64>
    cf.yield ()
  }
  cf.yield ()
} else {
  cf.yield ()
}
