// RUN: pir-opt --pass=forward-args %s | FileCheck %s
// NOTE: checks below are generated; regenerate with BLESS=1
// CHECK: // The first two are computed alike by four operations each, the third by another constant at the beginning, the fourth by another operation.
// CHECK-NEXT: %n = pd.data {name = "n", shape = [1], dtype = i64} : tensor<1xi64>
// CHECK-NEXT: %x = pd.data {name = "x", shape = [2], dtype = f32} : tensor<2xf32>
// CHECK-NEXT: %zero = pd.full {shape = [1], value = 0, dtype = i64} : tensor<1xi64>
// CHECK-NEXT: %one = pd.full {shape = [1], value = 1, dtype = i64} : tensor<1xi64>
// CHECK-NEXT: %end, %a_end, %c_end, %d_end = pd.while (%zero, %x, %x, %x) cond (%i: tensor<1xi64>, %a: tensor<2xf32>, %c: tensor<2xf32>, %d: tensor<2xf32>) {
// CHECK-NEXT:   %go = pd.less_than (%i, %n) : tensor<1xi1>
// CHECK-NEXT:   cf.cond_yield (%go, %i, %a, %c, %d)
// CHECK-NEXT: } body (%i_b: tensor<1xi64>, %a_b: tensor<2xf32>, %c_b: tensor<2xf32>, %d_b: tensor<2xf32>) {
// CHECK-NEXT:   %a1 = pd.scale (%a_b) {scale = 2.0} : tensor<2xf32>
// CHECK-NEXT:   %a2 = pd.add (%a1, %x) : tensor<2xf32>
// CHECK-NEXT:   %a3 = pd.tanh (%a2) : tensor<2xf32>
// CHECK-NEXT:   %a4 = pd.multiply (%a3, %x) : tensor<2xf32>
// CHECK-NEXT:   %b1 = pd.scale (%a_b) {scale = 2.0} : tensor<2xf32>
// CHECK-NEXT:   %b2 = pd.add (%b1, %x) : tensor<2xf32>
// CHECK-NEXT:   %b3 = pd.tanh (%b2) : tensor<2xf32>
// CHECK-NEXT:   %b4 = pd.multiply (%b3, %x) : tensor<2xf32>
// CHECK-NEXT:   %c1 = pd.scale (%c_b) {scale = 3.0} : tensor<2xf32>
// CHECK-NEXT:   %c2 = pd.add (%c1, %x) : tensor<2xf32>
// CHECK-NEXT:   %c3 = pd.tanh (%c2) : tensor<2xf32>
// CHECK-NEXT:   %c4 = pd.multiply (%c3, %x) : tensor<2xf32>
// CHECK-NEXT:   %d1 = pd.scale (%d_b) {scale = 2.0} : tensor<2xf32>
// CHECK-NEXT:   %d2 = pd.subtract (%d1, %x) : tensor<2xf32>
// CHECK-NEXT:   %d3 = pd.tanh (%d2) : tensor<2xf32>
// CHECK-NEXT:   %d4 = pd.multiply (%d3, %x) : tensor<2xf32>
// CHECK-NEXT:   %i_next = pd.add (%i_b, %one) : tensor<1xi64>
// CHECK-NEXT:   cf.yield (%i_next, %a4, %c4, %d4)
// CHECK-NEXT: } : tensor<1xi64>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>
// CHECK-NEXT: pd.fetch (%a_end) {name = "a"}
// CHECK-NEXT: pd.fetch (%a_end) {name = "b"}
// CHECK-NEXT: pd.fetch (%c_end) {name = "c"}
// CHECK-NEXT: pd.fetch (%d_end) {name = "d"}

// The first two are computed alike by four operations each, the third by another constant at the beginning, the fourth by another operation.
%n = pd.data {name = "n", shape = [1], dtype = i64} : tensor<1xi64>
%x = pd.data {name = "x", shape = [2], dtype = f32} : tensor<2xf32>
%zero = pd.full {shape = [1], value = 0, dtype = i64} : tensor<1xi64>
%one = pd.full {shape = [1], value = 1, dtype = i64} : tensor<1xi64>
%end, %a_end, %b_end, %c_end, %d_end = pd.while (%zero, %x, %x, %x, %x) cond (%i: tensor<1xi64>, %a: tensor<2xf32>, %b: tensor<2xf32>, %c: tensor<2xf32>, %d: tensor<2xf32>) {
  %go = pd.less_than (%i, %n) : tensor<1xi1>
  cf.cond_yield (%go, %i, %a, %b, %c, %d)
} body (%i_b: tensor<1xi64>, %a_b: tensor<2xf32>, %b_b: tensor<2xf32>, %c_b: tensor<2xf32>, %d_b: tensor<2xf32>) {
  %a1 = pd.scale (%a_b) {scale = 2.0} : tensor<2xf32>
  %a2 = pd.add (%a1, %x) : tensor<2xf32>
  %a3 = pd.tanh (%a2) : tensor<2xf32>
  %a4 = pd.multiply (%a3, %x) : tensor<2xf32>
  %b1 = pd.scale (%b_b) {scale = 2.0} : tensor<2xf32>
  %b2 = pd.add (%b1, %x) : tensor<2xf32>
  %b3 = pd.tanh (%b2) : tensor<2xf32>
  %b4 = pd.multiply (%b3, %x) : tensor<2xf32>
  %c1 = pd.scale (%c_b) {scale = 3.0} : tensor<2xf32>
  %c2 = pd.add (%c1, %x) : tensor<2xf32>
  %c3 = pd.tanh (%c2) : tensor<2xf32>
  %c4 = pd.multiply (%c3, %x) : tensor<2xf32>
  %d1 = pd.scale (%d_b) {scale = 2.0} : tensor<2xf32>
  %d2 = pd.subtract (%d1, %x) : tensor<2xf32>
  %d3 = pd.tanh (%d2) : tensor<2xf32>
  %d4 = pd.multiply (%d3, %x) : tensor<2xf32>
  %i_next = pd.add (%i_b, %one) : tensor<1xi64>
  cf.yield (%i_next, %a4, %b4, %c4, %d4)
} : tensor<1xi64>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>
pd.fetch (%a_end) {name = "a"}
pd.fetch (%b_end) {name = "b"}
pd.fetch (%c_end) {name = "c"}
pd.fetch (%d_end) {name = "d"}
