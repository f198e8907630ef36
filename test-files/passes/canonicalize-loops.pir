// RUN: pir-opt --pass=canonicalize %s | FileCheck %s
// NOTE: checks below are generated; regenerate with BLESS=1
// CHECK: %n = pd.data {name = "n", shape = [1], dtype = i64} : tensor<1xi64>
// CHECK-NEXT: %x = pd.data {name = "x", shape = [4], dtype = f64} : tensor<4xf64>
// CHECK-NEXT: %zero = pd.full {shape = [1], value = 0, dtype = i64} : tensor<1xi64>
// CHECK-NEXT: // Carried twice, carried unchanged, not read by anything but itself, forwarded twice, known inside and behind the loop.
// CHECK-NEXT: %i_end, %y = pd.while (%zero, %x) cond (%i: tensor<1xi64>, %a: tensor<4xf64>) {
// CHECK-NEXT:   %go = pd.less_than (%i, %n) : tensor<1xi1>
// CHECK-NEXT:   cf.cond_yield (%go, %i, %a)
// CHECK-NEXT: } body (%i_b: tensor<1xi64>, %a_b: tensor<4xf64>) {
// CHECK-NEXT:   %e = pd.tanh (%a_b) : tensor<4xf64>
// CHECK-NEXT:   %b2 = pd.multiply (%e, %x) : tensor<4xf64>
// CHECK-NEXT:   %i_next = pd.increment (%i_b) {value = 1.0} : tensor<1xi64>
// CHECK-NEXT:   cf.yield (%i_next, %b2)
// CHECK-NEXT: } : tensor<1xi64>, tensor<4xf64>
// CHECK-NEXT: %0 = pd.full {shape = [1], value = false, dtype = i1} : tensor<1xi1>
// CHECK-NEXT: pd.fetch (%0) {name = "left"}
// CHECK-NEXT: pd.fetch (%i_end) {name = "j"}
// CHECK-NEXT: pd.fetch (%y) {name = "y"}
// CHECK-NEXT: pd.fetch (%y) {name = "y_again"}
// CHECK-NEXT: pd.fetch (%x) {name = "x"}
%n = pd.data {name = "n", shape = [1], dtype = i64} : tensor<1xi64>
%x = pd.data {name = "x", shape = [4], dtype = f64} : tensor<4xf64>
%zero = pd.full {shape = [1], value = 0, dtype = i64} : tensor<1xi64>

// Carried twice, carried unchanged, not read by anything but itself, forwarded twice, known inside and behind the loop.
%i_end, %j_end, %y, %x_end, %dead, %y_again = pd.while (%zero, %zero, %x, %x, %x) cond (%i: tensor<1xi64>, %j: tensor<1xi64>, %a: tensor<4xf64>, %inv: tensor<4xf64>, %d: tensor<4xf64>) {
  %go = pd.less_than (%i, %n) : tensor<1xi1>
  cf.cond_yield (%go, %i, %j, %a, %inv, %d, %a)
} body (%i_b: tensor<1xi64>, %j_b: tensor<1xi64>, %a_b: tensor<4xf64>, %inv_b: tensor<4xf64>, %d_b: tensor<4xf64>, %a_c: tensor<4xf64>) {
  %stop = pd.greater_equal (%i_b, %n) : tensor<1xi1>
  %b = pd.if (%stop) then {
    %e = pd.exp (%a_b) : tensor<4xf64>
    cf.yield (%e)
  } else {
    %e = pd.tanh (%a_c) : tensor<4xf64>
    cf.yield (%e)
  } : tensor<4xf64>
  %b2 = pd.multiply (%b, %inv_b) : tensor<4xf64>
  %d2 = pd.multiply (%d_b, %b2) : tensor<4xf64>
  %i_next = pd.increment (%i_b) {value = 1.0} : tensor<1xi64>
  %j_next = pd.increment (%j_b) {value = 1.0} : tensor<1xi64>
  cf.yield (%i_next, %j_next, %b2, %inv_b, %d2)
} : tensor<1xi64>, tensor<1xi64>, tensor<4xf64>, tensor<4xf64>, tensor<4xf64>, tensor<4xf64>
%left = pd.less_than (%i_end, %n) : tensor<1xi1>
pd.fetch (%left) {name = "left"}
pd.fetch (%j_end) {name = "j"}
pd.fetch (%y) {name = "y"}
pd.fetch (%y_again) {name = "y_again"}
pd.fetch (%x_end) {name = "x"}
