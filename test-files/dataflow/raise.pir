// RUN: pir-opt --pass=lower-to-dataflow,raise-from-dataflow %s | FileCheck %s
// RUN: pir-opt --pass=lower-to-dataflow,raise-from-dataflow,lower-to-dataflow,raise-from-dataflow %s | FileCheck %s
// There and back: the same text. What a loop carried for the order of what is printed is gone again.

// CHECK:      %x = pd.data
// CHECK-NEXT: %n = pd.full
// CHECK-NEXT: // A choice.
// CHECK-NEXT: %c = pd.less_than (%x, %n)
// CHECK-NEXT: %a, %b = pd.if (%c) then {
// CHECK-NEXT:   %second = pd.print (%x) {message = "2"}
// CHECK-NEXT:   cf.yield (%second, %n)
// CHECK-NEXT: } else {
// CHECK-NEXT:   cf.yield (%n, %x)
// CHECK-NEXT: }
// CHECK-NEXT: %r, %s = pd.while (%a, %b) cond (%i: tensor<i64>, %k: tensor<i64>) {
// CHECK-NEXT:   %less = pd.less_than (%i, %n)
// CHECK-NEXT:   cf.cond_yield (%less, %k, %i)
// CHECK-NEXT: } body (%j: tensor<i64>, %l: tensor<i64>) {
// CHECK-NEXT:   %more = pd.increment (%l)
// CHECK-NEXT:   %t = pd.while (%more) cond (%p: tensor<i64>) {
// CHECK-NEXT:     %on = pd.less_than (%p, %j)
// CHECK-NEXT:     cf.cond_yield (%on, %p)
// CHECK-NEXT:   } body (%q: tensor<i64>) {
// CHECK-NEXT:     %next = pd.increment (%q)
// CHECK-NEXT:     pd.if (%c) then {
// CHECK-NEXT:       %third = pd.print (%next) {message = "3"}
// CHECK-NEXT:       cf.yield ()
// CHECK-NEXT:     }
// CHECK-NEXT:     cf.yield (%next)
// CHECK-NEXT:   }
// CHECK-NEXT:   cf.yield (%t, %j)
// CHECK-NEXT: }
// CHECK-NEXT: pd.fetch (%r)
// CHECK-NEXT: pd.fetch (%s)
// CHECK-NOT:  df.
%x = pd.data {name = "x", shape = [], dtype = i64}
%n = pd.full {shape = [], value = 3, dtype = i64}
// A choice.
%c = pd.less_than (%x, %n)
%a, %b = pd.if (%c) then {
  %second = pd.print (%x) {message = "2"}
  cf.yield (%second, %n)
} else {
  cf.yield (%n, %x)
}
%r, %s = pd.while (%a, %b) cond (%i, %k) {
  %less = pd.less_than (%i, %n)
  cf.cond_yield (%less, %k, %i)
} body (%j, %l) {
  %more = pd.increment (%l) {value = 1.0}
  %t = pd.while (%more) cond (%p) {
    %on = pd.less_than (%p, %j)
    cf.cond_yield (%on, %p)
  } body (%q) {
    %next = pd.increment (%q) {value = 1.0}
    pd.if (%c) then {
      %third = pd.print (%next) {message = "3"}
    }
    cf.yield (%next)
  }
  cf.yield (%t, %j)
}
pd.fetch (%r) {name = "r"}
pd.fetch (%s) {name = "s"}
