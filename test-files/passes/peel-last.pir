// RUN: pir-opt --pass="peel{last=true},canonicalize" %s | FileCheck %s
// NOTE: checks below are generated; regenerate with BLESS=1
// CHECK: %n = pd.data {name = "n", shape = [1], dtype = i64} : tensor<1xi64>
// CHECK-NEXT: %x = pd.data {name = "x", shape = [4], dtype = f64} : tensor<4xf64>
// CHECK-NEXT: %zero = pd.full {shape = [1], value = 0, dtype = i64} : tensor<1xi64>
// CHECK-NEXT: %0, %1, %2 = pd.while (%zero, %x) cond (%i: tensor<1xi64>, %a: tensor<4xf64>) {
// CHECK-NEXT:   %go = pd.less_than (%i, %n) : tensor<1xi1>
// CHECK-NEXT:   %3 = pd.full {shape = [1], value = 1, dtype = i64} : tensor<1xi64>
// CHECK-NEXT:   %4 = pd.add (%i, %3) : tensor<1xi64>
// CHECK-NEXT:   %5 = pd.less_than (%4, %n) : tensor<1xi1>
// CHECK-NEXT:   %6 = pd.logical_and (%go, %5) : tensor<1xi1>
// CHECK-NEXT:   cf.cond_yield (%6, %i, %a, %go)
// CHECK-NEXT: } body (%i_b: tensor<1xi64>, %a_b: tensor<4xf64>, %arg0: tensor<1xi1>) {
// CHECK-NEXT:   %b = pd.tanh (%a_b) : tensor<4xf64>
// CHECK-NEXT:   %i_next = pd.increment (%i_b) {value = 1.0} : tensor<1xi64>
// CHECK-NEXT:   cf.yield (%i_next, %b)
// CHECK-NEXT: } : tensor<1xi64>, tensor<4xf64>, tensor<1xi1>
// CHECK-NEXT: %y = pd.if (%2) then {
// CHECK-NEXT:   %b = pd.tanh (%1) : tensor<4xf64>
// CHECK-NEXT:   cf.yield (%b)
// CHECK-NEXT: } else {
// CHECK-NEXT:   cf.yield (%1)
// CHECK-NEXT: } : tensor<4xf64>
// CHECK-NEXT: pd.fetch (%y) {name = "y"}
%n = pd.data {name = "n", shape = [1], dtype = i64} : tensor<1xi64>
%x = pd.data {name = "x", shape = [4], dtype = f64} : tensor<4xf64>
%zero = pd.full {shape = [1], value = 0, dtype = i64} : tensor<1xi64>
%i_end, %y = pd.while (%zero, %x) cond (%i: tensor<1xi64>, %a: tensor<4xf64>) {
  %go = pd.less_than (%i, %n) : tensor<1xi1>
  cf.cond_yield (%go, %i, %a)
} body (%i_b: tensor<1xi64>, %a_b: tensor<4xf64>) {
  %b = pd.tanh (%a_b) : tensor<4xf64>
  %i_next = pd.increment (%i_b) {value = 1.0} : tensor<1xi64>
  cf.yield (%i_next, %b)
} : tensor<1xi64>, tensor<4xf64>
pd.fetch (%y) {name = "y"}
