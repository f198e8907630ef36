// RUN: pir-opt --pass=dce %s | FileCheck %s
// NOTE: checks below are generated; regenerate with BLESS=1
// CHECK: %n = pd.data {name = "n", shape = [1], dtype = i64} : tensor<1xi64>
// CHECK-NEXT: %x = pd.data {name = "x", shape = [4], dtype = f64} : tensor<4xf64>
// CHECK-NEXT: %zero = pd.full {shape = [1], value = 0, dtype = i64} : tensor<1xi64>
// CHECK-NEXT: %ten = pd.full {shape = [1], value = 10, dtype = i64} : tensor<1xi64>
// CHECK-NEXT: %three = pd.full {shape = [1], value = 3, dtype = i64} : tensor<1xi64>
// CHECK-NEXT: %counted = pd.full {shape = [1], value = 12, dtype = i64} : tensor<1xi64>
// CHECK-NEXT: pd.fetch (%counted) {name = "counted"}
// CHECK-NEXT: %wanted = pd.full {shape = [1], value = -2, dtype = i64} : tensor<1xi64>
// CHECK-NEXT: // The end is known, but what is computed on the way is wanted.
// CHECK-NEXT: %wanted_1, %y = pd.while (%ten, %x) cond (%i: tensor<1xi64>, %a: tensor<4xf64>) {
// CHECK-NEXT:   %go = pd.greater_than (%i, %zero) : tensor<1xi1>
// CHECK-NEXT:   cf.cond_yield (%go, %i, %a)
// CHECK-NEXT: } body (%i_b: tensor<1xi64>, %a_b: tensor<4xf64>) {
// CHECK-NEXT:   %b = pd.tanh (%a_b) : tensor<4xf64>
// CHECK-NEXT:   %next = pd.subtract (%i_b, %three) : tensor<1xi64>
// CHECK-NEXT:   cf.yield (%next, %b)
// CHECK-NEXT: } : tensor<1xi64>, tensor<4xf64>
// CHECK-NEXT: pd.fetch (%wanted) {name = "wanted"}
// CHECK-NEXT: pd.fetch (%y) {name = "y"}
// CHECK-NEXT: // Where it ends depends on an input; a counter that prints; one that steps over the bound for ever.
// CHECK-NEXT: %open = pd.while (%zero) cond (%i: tensor<1xi64>) {
// CHECK-NEXT:   %go = pd.less_than (%i, %n) : tensor<1xi1>
// CHECK-NEXT:   cf.cond_yield (%go, %i)
// CHECK-NEXT: } body (%i_b: tensor<1xi64>) {
// CHECK-NEXT:   %next = pd.increment (%i_b) {value = 1.0} : tensor<1xi64>
// CHECK-NEXT:   cf.yield (%next)
// CHECK-NEXT: } : tensor<1xi64>
// CHECK-NEXT: pd.fetch (%open) {name = "open"}
// CHECK-NEXT: %shown = pd.full {shape = [1], value = 10, dtype = i64} : tensor<1xi64>
// CHECK-NEXT: %shown_1 = pd.while (%zero) cond (%i: tensor<1xi64>) {
// CHECK-NEXT:   %go = pd.less_than (%i, %ten) : tensor<1xi1>
// CHECK-NEXT:   cf.cond_yield (%go, %i)
// CHECK-NEXT: } body (%i_b: tensor<1xi64>) {
// CHECK-NEXT:   %next = pd.increment (%i_b) {value = 1.0} : tensor<1xi64>
// CHECK-NEXT:   %p = pd.print (%next) {message = "next"} : tensor<1xi64>
// CHECK-NEXT:   cf.yield (%next)
// CHECK-NEXT: } : tensor<1xi64>
// CHECK-NEXT: pd.fetch (%shown) {name = "shown"}
// CHECK-NEXT: %endless = pd.while (%zero) cond (%i: tensor<1xi64>) {
// CHECK-NEXT:   %go = pd.not_equal (%i, %ten) : tensor<1xi1>
// CHECK-NEXT:   cf.cond_yield (%go, %i)
// CHECK-NEXT: } body (%i_b: tensor<1xi64>) {
// CHECK-NEXT:   %next = pd.add (%i_b, %three) : tensor<1xi64>
// CHECK-NEXT:   cf.yield (%next)
// CHECK-NEXT: } : tensor<1xi64>
// CHECK-NEXT: pd.fetch (%endless) {name = "endless"}
%n = pd.data {name = "n", shape = [1], dtype = i64} : tensor<1xi64>
%x = pd.data {name = "x", shape = [4], dtype = f64} : tensor<4xf64>
%zero = pd.full {shape = [1], value = 0, dtype = i64} : tensor<1xi64>
%ten = pd.full {shape = [1], value = 10, dtype = i64} : tensor<1xi64>
%three = pd.full {shape = [1], value = 3, dtype = i64} : tensor<1xi64>

// 0, 3, 6, 9, 12: only counts.
%counted, %half = pd.while (%zero, %x) cond (%i: tensor<1xi64>, %a: tensor<4xf64>) {
  %go = pd.less_than (%i, %ten) : tensor<1xi1>
  cf.cond_yield (%go, %i, %a)
} body (%i_b: tensor<1xi64>, %a_b: tensor<4xf64>) {
  %b = pd.tanh (%a_b) : tensor<4xf64>
  %next = pd.add (%three, %i_b) : tensor<1xi64>
  cf.yield (%next, %b)
} : tensor<1xi64>, tensor<4xf64>
pd.fetch (%counted) {name = "counted"}

// The end is known, but what is computed on the way is wanted.
%wanted, %y = pd.while (%ten, %x) cond (%i: tensor<1xi64>, %a: tensor<4xf64>) {
  %go = pd.greater_than (%i, %zero) : tensor<1xi1>
  cf.cond_yield (%go, %i, %a)
} body (%i_b: tensor<1xi64>, %a_b: tensor<4xf64>) {
  %b = pd.tanh (%a_b) : tensor<4xf64>
  %next = pd.subtract (%i_b, %three) : tensor<1xi64>
  cf.yield (%next, %b)
} : tensor<1xi64>, tensor<4xf64>
pd.fetch (%wanted) {name = "wanted"}
pd.fetch (%y) {name = "y"}

// Where it ends depends on an input; a counter that prints; one that steps over the bound for ever.
%open = pd.while (%zero) cond (%i: tensor<1xi64>) {
  %go = pd.less_than (%i, %n) : tensor<1xi1>
  cf.cond_yield (%go, %i)
} body (%i_b: tensor<1xi64>) {
  %next = pd.increment (%i_b) {value = 1.0} : tensor<1xi64>
  cf.yield (%next)
} : tensor<1xi64>
pd.fetch (%open) {name = "open"}
%shown = pd.while (%zero) cond (%i: tensor<1xi64>) {
  %go = pd.less_than (%i, %ten) : tensor<1xi1>
  cf.cond_yield (%go, %i)
} body (%i_b: tensor<1xi64>) {
  %next = pd.increment (%i_b) {value = 1.0} : tensor<1xi64>
  %p = pd.print (%next) {message = "next"} : tensor<1xi64>
  cf.yield (%next)
} : tensor<1xi64>
pd.fetch (%shown) {name = "shown"}
%endless = pd.while (%zero) cond (%i: tensor<1xi64>) {
  %go = pd.not_equal (%i, %ten) : tensor<1xi1>
  cf.cond_yield (%go, %i)
} body (%i_b: tensor<1xi64>) {
  %next = pd.add (%i_b, %three) : tensor<1xi64>
  cf.yield (%next)
} : tensor<1xi64>
pd.fetch (%endless) {name = "endless"}
