// RUN: pir-opt --pass=forward-args %s | FileCheck %s
// NOTE: checks below are generated; regenerate with BLESS=1
// CHECK: // Two counters that start and step alike are one. The third starts elsewhere, the fourth takes other steps, and so do
// CHECK-NEXT: // the values that are computed from them.
// CHECK-NEXT: %n = pd.data {name = "n", shape = [1], dtype = i64} : tensor<1xi64>
// CHECK-NEXT: %zero = pd.full {shape = [1], value = 0, dtype = i64} : tensor<1xi64>
// CHECK-NEXT: %null = pd.full {dtype = i64, value = 0, shape = [1]} : tensor<1xi64>
// CHECK-NEXT: %one = pd.full {shape = [1], value = 1, dtype = i64} : tensor<1xi64>
// CHECK-NEXT: %i_end, %k_end, %l_end = pd.while (%zero, %one, %zero) cond (%i: tensor<1xi64>, %k: tensor<1xi64>, %l: tensor<1xi64>) {
// CHECK-NEXT:   %go = pd.less_than (%i, %n) : tensor<1xi1>
// CHECK-NEXT:   cf.cond_yield (%go, %i, %k, %l)
// CHECK-NEXT: } body (%i_b: tensor<1xi64>, %k_b: tensor<1xi64>, %l_b: tensor<1xi64>) {
// CHECK-NEXT:   %i_next = pd.add (%i_b, %one) : tensor<1xi64>
// CHECK-NEXT:   %j_next = pd.add (%i_b, %one) : tensor<1xi64>
// CHECK-NEXT:   %k_next = pd.add (%k_b, %one) : tensor<1xi64>
// CHECK-NEXT:   %l_next = pd.add (%l_b, %j_next) : tensor<1xi64>
// CHECK-NEXT:   cf.yield (%i_next, %k_next, %l_next)
// CHECK-NEXT: } : tensor<1xi64>, tensor<1xi64>, tensor<1xi64>
// CHECK-NEXT: pd.fetch (%i_end) {name = "i"}
// CHECK-NEXT: pd.fetch (%i_end) {name = "j"}
// CHECK-NEXT: pd.fetch (%k_end) {name = "k"}
// CHECK-NEXT: pd.fetch (%l_end) {name = "l"}

// Two counters that start and step alike are one. The third starts elsewhere, the fourth takes other steps, and so do
// the values that are computed from them.
%n = pd.data {name = "n", shape = [1], dtype = i64} : tensor<1xi64>
%zero = pd.full {shape = [1], value = 0, dtype = i64} : tensor<1xi64>
%null = pd.full {dtype = i64, value = 0, shape = [1]} : tensor<1xi64>
%one = pd.full {shape = [1], value = 1, dtype = i64} : tensor<1xi64>
%i_end, %j_end, %k_end, %l_end = pd.while (%zero, %null, %one, %zero) cond (%i: tensor<1xi64>, %j: tensor<1xi64>, %k: tensor<1xi64>, %l: tensor<1xi64>) {
  %go = pd.less_than (%i, %n) : tensor<1xi1>
  cf.cond_yield (%go, %i, %j, %k, %l)
} body (%i_b: tensor<1xi64>, %j_b: tensor<1xi64>, %k_b: tensor<1xi64>, %l_b: tensor<1xi64>) {
  %i_next = pd.add (%i_b, %one) : tensor<1xi64>
  %j_next = pd.add (%j_b, %one) : tensor<1xi64>
  %k_next = pd.add (%k_b, %one) : tensor<1xi64>
  %l_next = pd.add (%l_b, %j_next) : tensor<1xi64>
  cf.yield (%i_next, %j_next, %k_next, %l_next)
} : tensor<1xi64>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>
pd.fetch (%i_end) {name = "i"}
pd.fetch (%j_end) {name = "j"}
pd.fetch (%k_end) {name = "k"}
pd.fetch (%l_end) {name = "l"}
