// RUN: pir-opt --pass=canonicalize %s | FileCheck %s
// NOTE: checks below are generated; regenerate with BLESS=1
// CHECK: %x = pd.data {name = "x", shape = [4], dtype = f64} : tensor<4xf64>
// CHECK-NEXT: %zero = pd.full {shape = [1], value = 0, dtype = i64} : tensor<1xi64>
// CHECK-NEXT: %two = pd.full {shape = [1], value = 2, dtype = i64} : tensor<1xi64>
// CHECK-NEXT: %p = pd.print (%x) {message = "cond"} : tensor<4xf64>
// CHECK-NEXT: %b = pd.tanh (%x) : tensor<4xf64>
// CHECK-NEXT: %q = pd.print (%b) {message = "body"} : tensor<4xf64>
// CHECK-NEXT: %i_next = pd.full {shape = [1], value = 1, dtype = i64} : tensor<1xi64>
// CHECK-NEXT: %p_1 = pd.print (%b) {message = "cond"} : tensor<4xf64>
// CHECK-NEXT: pd.fetch (%i_next) {name = "i"}
// CHECK-NEXT: pd.fetch (%b) {name = "once"}
// CHECK-NEXT: %p_2 = pd.print (%x) {message = "cond"} : tensor<4xf64>
// CHECK-NEXT: pd.fetch (%p_2) {name = "never"}
// CHECK-NEXT: // Runs twice, and is left to `unroll`.
// CHECK-NEXT: %j_end, %twice = pd.while (%zero, %x) cond (%i: tensor<1xi64>, %a: tensor<4xf64>) {
// CHECK-NEXT:   %go = pd.less_than (%i, %two) : tensor<1xi1>
// CHECK-NEXT:   cf.cond_yield (%go, %i, %a)
// CHECK-NEXT: } body (%i_b: tensor<1xi64>, %a_b: tensor<4xf64>) {
// CHECK-NEXT:   %b_1 = pd.tanh (%a_b) : tensor<4xf64>
// CHECK-NEXT:   %i_next_1 = pd.increment (%i_b) {value = 1.0} : tensor<1xi64>
// CHECK-NEXT:   cf.yield (%i_next_1, %b_1)
// CHECK-NEXT: } : tensor<1xi64>, tensor<4xf64>
// CHECK-NEXT: pd.fetch (%twice) {name = "twice"}
%x = pd.data {name = "x", shape = [4], dtype = f64} : tensor<4xf64>
%zero = pd.full {shape = [1], value = 0, dtype = i64} : tensor<1xi64>
%one = pd.full {shape = [1], value = 1, dtype = i64} : tensor<1xi64>
%two = pd.full {shape = [1], value = 2, dtype = i64} : tensor<1xi64>

// Runs once: the condition is evaluated twice, the body once, in this order.
%i_end, %once = pd.while (%zero, %x) cond (%i: tensor<1xi64>, %a: tensor<4xf64>) {
  %p = pd.print (%a) {message = "cond"} : tensor<4xf64>
  %go = pd.less_than (%i, %one) : tensor<1xi1>
  cf.cond_yield (%go, %i, %a)
} body (%i_b: tensor<1xi64>, %a_b: tensor<4xf64>) {
  %b = pd.tanh (%a_b) : tensor<4xf64>
  %q = pd.print (%b) {message = "body"} : tensor<4xf64>
  %i_next = pd.increment (%i_b) {value = 1.0} : tensor<1xi64>
  cf.yield (%i_next, %b)
} : tensor<1xi64>, tensor<4xf64>
pd.fetch (%i_end) {name = "i"}
pd.fetch (%once) {name = "once"}

// Runs not at all: only the condition is evaluated.
%never = pd.while (%x) cond (%a: tensor<4xf64>) {
  %p = pd.print (%a) {message = "cond"} : tensor<4xf64>
  %go = pd.less_than (%two, %one) : tensor<1xi1>
  cf.cond_yield (%go, %p)
} body (%a_b: tensor<4xf64>) {
  %b = pd.exp (%a_b) : tensor<4xf64>
  cf.yield (%b)
} : tensor<4xf64>
pd.fetch (%never) {name = "never"}

// Runs twice, and is left to `unroll`.
%j_end, %twice = pd.while (%zero, %x) cond (%i: tensor<1xi64>, %a: tensor<4xf64>) {
  %go = pd.less_than (%i, %two) : tensor<1xi1>
  cf.cond_yield (%go, %i, %a)
} body (%i_b: tensor<1xi64>, %a_b: tensor<4xf64>) {
  %b = pd.tanh (%a_b) : tensor<4xf64>
  %i_next = pd.increment (%i_b) {value = 1.0} : tensor<1xi64>
  cf.yield (%i_next, %b)
} : tensor<1xi64>, tensor<4xf64>
pd.fetch (%twice) {name = "twice"}
