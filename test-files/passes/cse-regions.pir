// RUN: pir-opt --pass=cse %s | FileCheck %s
// NOTE: checks below are generated; regenerate with BLESS=1
// CHECK: // The second loop is the first one; the third one prints, the fourth one takes its operands in another order.
// CHECK-NEXT: %n = pd.data {name = "n", shape = [1], dtype = i64} : tensor<1xi64>
// CHECK-NEXT: %x = pd.data {name = "x", shape = [4], dtype = f64} : tensor<4xf64>
// CHECK-NEXT: %zero = pd.full {shape = [1], value = 0, dtype = i64} : tensor<1xi64>
// CHECK-NEXT: %i1, %y1 = pd.while (%zero, %x) cond (%i: tensor<1xi64>, %a: tensor<4xf64>) {
// CHECK-NEXT:   %go = pd.less_than (%i, %n) : tensor<1xi1>
// CHECK-NEXT:   cf.cond_yield (%go, %i, %a)
// CHECK-NEXT: } body (%i_b: tensor<1xi64>, %a_b: tensor<4xf64>) {
// CHECK-NEXT:   %b = pd.subtract (%a_b, %x) : tensor<4xf64>
// CHECK-NEXT:   %i_next = pd.increment (%i_b) {value = 1.0} : tensor<1xi64>
// CHECK-NEXT:   cf.yield (%i_next, %b)
// CHECK-NEXT: } : tensor<1xi64>, tensor<4xf64>
// CHECK-NEXT: %i3, %y3 = pd.while (%zero, %x) cond (%i: tensor<1xi64>, %a: tensor<4xf64>) {
// CHECK-NEXT:   %go = pd.less_than (%i, %n) : tensor<1xi1>
// CHECK-NEXT:   cf.cond_yield (%go, %i, %a)
// CHECK-NEXT: } body (%i_b: tensor<1xi64>, %a_b: tensor<4xf64>) {
// CHECK-NEXT:   %b = pd.subtract (%a_b, %x) : tensor<4xf64>
// CHECK-NEXT:   %p = pd.print (%b) {message = "b"} : tensor<4xf64>
// CHECK-NEXT:   %i_next = pd.increment (%i_b) {value = 1.0} : tensor<1xi64>
// CHECK-NEXT:   cf.yield (%i_next, %b)
// CHECK-NEXT: } : tensor<1xi64>, tensor<4xf64>
// CHECK-NEXT: %i4, %y4 = pd.while (%zero, %x) cond (%i: tensor<1xi64>, %a: tensor<4xf64>) {
// CHECK-NEXT:   %go = pd.less_than (%i, %n) : tensor<1xi1>
// CHECK-NEXT:   cf.cond_yield (%go, %i, %a)
// CHECK-NEXT: } body (%i_b: tensor<1xi64>, %a_b: tensor<4xf64>) {
// CHECK-NEXT:   %b = pd.subtract (%x, %a_b) : tensor<4xf64>
// CHECK-NEXT:   %i_next = pd.increment (%i_b) {value = 1.0} : tensor<1xi64>
// CHECK-NEXT:   cf.yield (%i_next, %b)
// CHECK-NEXT: } : tensor<1xi64>, tensor<4xf64>
// CHECK-NEXT: pd.fetch (%y1) {name = "y1"}
// CHECK-NEXT: pd.fetch (%y1) {name = "y2"}
// CHECK-NEXT: pd.fetch (%y3) {name = "y3"}
// CHECK-NEXT: pd.fetch (%y4) {name = "y4"}

// The second loop is the first one; the third one prints, the fourth one takes its operands in another order.
%n = pd.data {name = "n", shape = [1], dtype = i64} : tensor<1xi64>
%x = pd.data {name = "x", shape = [4], dtype = f64} : tensor<4xf64>
%zero = pd.full {shape = [1], value = 0, dtype = i64} : tensor<1xi64>
%i1, %y1 = pd.while (%zero, %x) cond (%i: tensor<1xi64>, %a: tensor<4xf64>) {
  %go = pd.less_than (%i, %n) : tensor<1xi1>
  cf.cond_yield (%go, %i, %a)
} body (%i_b: tensor<1xi64>, %a_b: tensor<4xf64>) {
  %b = pd.subtract (%a_b, %x) : tensor<4xf64>
  %i_next = pd.increment (%i_b) {value = 1.0} : tensor<1xi64>
  cf.yield (%i_next, %b)
} : tensor<1xi64>, tensor<4xf64>
%i2, %y2 = pd.while (%zero, %x) cond (%i: tensor<1xi64>, %a: tensor<4xf64>) {
  %go = pd.less_than (%i, %n) : tensor<1xi1>
  cf.cond_yield (%go, %i, %a)
} body (%i_b: tensor<1xi64>, %a_b: tensor<4xf64>) {
  %b = pd.subtract (%a_b, %x) : tensor<4xf64>
  %i_next = pd.increment (%i_b) {value = 1.0} : tensor<1xi64>
  cf.yield (%i_next, %b)
} : tensor<1xi64>, tensor<4xf64>
%i3, %y3 = pd.while (%zero, %x) cond (%i: tensor<1xi64>, %a: tensor<4xf64>) {
  %go = pd.less_than (%i, %n) : tensor<1xi1>
  cf.cond_yield (%go, %i, %a)
} body (%i_b: tensor<1xi64>, %a_b: tensor<4xf64>) {
  %b = pd.subtract (%a_b, %x) : tensor<4xf64>
  %p = pd.print (%b) {message = "b"} : tensor<4xf64>
  %i_next = pd.increment (%i_b) {value = 1.0} : tensor<1xi64>
  cf.yield (%i_next, %b)
} : tensor<1xi64>, tensor<4xf64>
%i4, %y4 = pd.while (%zero, %x) cond (%i: tensor<1xi64>, %a: tensor<4xf64>) {
  %go = pd.less_than (%i, %n) : tensor<1xi1>
  cf.cond_yield (%go, %i, %a)
} body (%i_b: tensor<1xi64>, %a_b: tensor<4xf64>) {
  %b = pd.subtract (%x, %a_b) : tensor<4xf64>
  %i_next = pd.increment (%i_b) {value = 1.0} : tensor<1xi64>
  cf.yield (%i_next, %b)
} : tensor<1xi64>, tensor<4xf64>
pd.fetch (%y1) {name = "y1"}
pd.fetch (%y2) {name = "y2"}
pd.fetch (%y3) {name = "y3"}
pd.fetch (%y4) {name = "y4"}
