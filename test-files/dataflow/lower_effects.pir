// RUN: pir-opt --pass=lower-to-dataflow %s | FileCheck %s
// What is printed keeps its order: behind a branch, and from iteration to iteration.

// CHECK:      %first = pd.print (%x)
// CHECK:      %second = pd.print
// CHECK-NEXT: df.control (%second, %first)
// CHECK:      [[NOT:%[0-9]+]] = df.identity
// CHECK-NEXT: df.control ([[NOT]], %first)
// CHECK-NEXT: [[END:%[0-9]+]] = df.identity
// CHECK-NEXT: df.control ([[END]], %second)
// CHECK-NEXT: %joined, %{{[0-9]+}} = df.merge ([[NOT]], [[END]])
// CHECK:      [[ENTER:%[0-9]+]] = df.enter (%{{[0-9]+}}) {frame = "while_0"}
// CHECK-NEXT: df.control ([[ENTER]], %joined)
// CHECK-NEXT: %order, %{{[0-9]+}} = df.merge ([[ENTER]], [[NEXT:%[0-9]+]])
// CHECK:      [[LAST:%[0-9]+]], [[BODY:%[0-9]+]] = df.switch (%order, %go)
// CHECK:      %pivot = df.identity ([[BODY]])
// CHECK:      %third = pd.print
// CHECK-NEXT: df.control (%third, %pivot)
// CHECK:      [[NEXT]] = df.next_iteration (%pivot)
// CHECK-NEXT: df.control ([[NEXT]], %third)
// CHECK:      [[OUT:%[0-9]+]] = df.exit ([[LAST]])
// CHECK-NEXT: %fourth = pd.print (%x)
// CHECK-NEXT: df.control (%fourth, [[OUT]])
%x = pd.data {name = "x", shape = [], dtype = i64}
%n = pd.full {shape = [], value = 3, dtype = i64}
%c = pd.less_than (%x, %n)
%first = pd.print (%x) {message = "1"}
pd.if (%c) then {
  %second = pd.print (%x) {message = "2"}
}
%r = pd.while (%x) cond (%i) {
  %less = pd.less_than (%i, %n)
  cf.cond_yield (%less, %i)
} body (%j) {
  %third = pd.print (%j) {message = "3"}
  %k = pd.increment (%j) {value = 1.0}
  cf.yield (%k)
}
%fourth = pd.print (%x) {message = "4"}
pd.fetch (%r) {name = "r"}
