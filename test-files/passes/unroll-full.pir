// RUN: pir-opt --pass="unroll{max-ops=12}" %s | FileCheck %s
// NOTE: checks below are generated; regenerate with BLESS=1
// CHECK: %n = pd.data {name = "n", shape = [1], dtype = i64} : tensor<1xi64>
// CHECK-NEXT: %x = pd.data {name = "x", shape = [4], dtype = f64} : tensor<4xf64>
// CHECK-NEXT: %zero = pd.full {shape = [1], value = 0, dtype = i64} : tensor<1xi64>
// CHECK-NEXT: %two = pd.full {shape = [1], value = 2, dtype = i64} : tensor<1xi64>
// CHECK-NEXT: %ten = pd.full {shape = [1], value = 10, dtype = i64} : tensor<1xi64>
// CHECK-NEXT: %go = pd.less_than (%zero, %two) : tensor<1xi1>
// CHECK-NEXT: %p = pd.print (%x) {message = "cond"} : tensor<4xf64>
// CHECK-NEXT: %b = pd.tanh (%x) : tensor<4xf64>
// CHECK-NEXT: %i_next = pd.increment (%zero) {value = 1.0} : tensor<1xi64>
// CHECK-NEXT: %go_1 = pd.less_than (%i_next, %two) : tensor<1xi1>
// CHECK-NEXT: %p_1 = pd.print (%b) {message = "cond"} : tensor<4xf64>
// CHECK-NEXT: %b_1 = pd.tanh (%b) : tensor<4xf64>
// CHECK-NEXT: %i_next_1 = pd.increment (%i_next) {value = 1.0} : tensor<1xi64>
// CHECK-NEXT: %go_2 = pd.less_than (%i_next_1, %two) : tensor<1xi1>
// CHECK-NEXT: %p_2 = pd.print (%b_1) {message = "cond"} : tensor<4xf64>
// CHECK-NEXT: pd.fetch (%b_1) {name = "y"}
// CHECK-NEXT: // Too many, and nobody knows how many.
// CHECK-NEXT: %j_end = pd.while (%zero) cond (%j: tensor<1xi64>) {
// CHECK-NEXT:   %go_3 = pd.less_than (%j, %ten) : tensor<1xi1>
// CHECK-NEXT:   cf.cond_yield (%go_3, %j)
// CHECK-NEXT: } body (%j_b: tensor<1xi64>) {
// CHECK-NEXT:   %j_next = pd.increment (%j_b) {value = 1.0} : tensor<1xi64>
// CHECK-NEXT:   cf.yield (%j_next)
// CHECK-NEXT: } : tensor<1xi64>
// CHECK-NEXT: pd.fetch (%j_end) {name = "j"}
// CHECK-NEXT: %k_end = pd.while (%zero) cond (%k: tensor<1xi64>) {
// CHECK-NEXT:   %go_4 = pd.less_than (%k, %n) : tensor<1xi1>
// CHECK-NEXT:   cf.cond_yield (%go_4, %k)
// CHECK-NEXT: } body (%k_b: tensor<1xi64>) {
// CHECK-NEXT:   %k_next = pd.increment (%k_b) {value = 1.0} : tensor<1xi64>
// CHECK-NEXT:   cf.yield (%k_next)
// CHECK-NEXT: } : tensor<1xi64>
// CHECK-NEXT: pd.fetch (%k_end) {name = "k"}
%n = pd.data {name = "n", shape = [1], dtype = i64} : tensor<1xi64>
%x = pd.data {name = "x", shape = [4], dtype = f64} : tensor<4xf64>
%zero = pd.full {shape = [1], value = 0, dtype = i64} : tensor<1xi64>
%two = pd.full {shape = [1], value = 2, dtype = i64} : tensor<1xi64>
%ten = pd.full {shape = [1], value = 10, dtype = i64} : tensor<1xi64>

// Two iterations, three conditions.
%i_end, %y = pd.while (%zero, %x) cond (%i: tensor<1xi64>, %a: tensor<4xf64>) {
  %go = pd.less_than (%i, %two) : tensor<1xi1>
  %p = pd.print (%a) {message = "cond"} : tensor<4xf64>
  cf.cond_yield (%go, %i, %a)
} body (%i_b: tensor<1xi64>, %a_b: tensor<4xf64>) {
  %b = pd.tanh (%a_b) : tensor<4xf64>
  %i_next = pd.increment (%i_b) {value = 1.0} : tensor<1xi64>
  cf.yield (%i_next, %b)
} : tensor<1xi64>, tensor<4xf64>
pd.fetch (%y) {name = "y"}

// Too many, and nobody knows how many.
%j_end = pd.while (%zero) cond (%j: tensor<1xi64>) {
  %go = pd.less_than (%j, %ten) : tensor<1xi1>
  cf.cond_yield (%go, %j)
} body (%j_b: tensor<1xi64>) {
  %j_next = pd.increment (%j_b) {value = 1.0} : tensor<1xi64>
  cf.yield (%j_next)
} : tensor<1xi64>
pd.fetch (%j_end) {name = "j"}
%k_end = pd.while (%zero) cond (%k: tensor<1xi64>) {
  %go = pd.less_than (%k, %n) : tensor<1xi1>
  cf.cond_yield (%go, %k)
} body (%k_b: tensor<1xi64>) {
  %k_next = pd.increment (%k_b) {value = 1.0} : tensor<1xi64>
  cf.yield (%k_next)
} : tensor<1xi64>
pd.fetch (%k_end) {name = "k"}
