// RUN: pir-opt --pass=outline %s | FileCheck %s
// RUN: pir-opt --pass=outline,inline,symbol-dce %s | FileCheck --check-prefix=BACK %s

// Two loops that differ in what they start with, as in control_flow.md 2.3.3.
// CHECK:      %n = pd.data
// CHECK:      %k_e, %a_e = func.call @outlined (%zero, %x, %n, %w) : tensor<1xi64>, tensor<4xf32>
// CHECK-NEXT: %l_e, %b_e = func.call @outlined (%zero, %y, %n, %w) : tensor<1xi64>, tensor<4xf32>
// CHECK:      pd.fetch (%b_e)
// CHECK:      func.func private @outlined(%zero: tensor<1xi64>, %x: tensor<4xf32>, %n: tensor<1xi64>, %w: tensor<4xf32>) -> (tensor<1xi64>, tensor<4xf32>) {
// CHECK-NEXT:   [[K:%.*]], [[A:%.*]] = pd.while (%zero, %x) cond
// CHECK:        func.return ([[K]], [[A]])

// BACK-NOT:   func.call
// BACK:       %k_e, %a_e = pd.while (%zero, %x)
// BACK:       %l_e, %b_e = pd.while (%zero, %y)
%n = pd.data {name = "n", shape = [1], dtype = i64}
%x = pd.data {name = "x", shape = [4], dtype = f32}
%y = pd.data {name = "y", shape = [4], dtype = f32}
%w = pd.data {name = "w", shape = [4], dtype = f32}
%zero = pd.full {shape = [1], value = 0, dtype = i64}
%k_e, %a_e = pd.while (%zero, %x) cond (%k, %a) {
  %go = pd.less_than (%k, %n)
  cf.cond_yield (%go, %k, %a)
} body (%k2, %a2) {
  %m = pd.increment (%k2) {value = 1.0}
  %p = pd.multiply (%a2, %w)
  cf.yield (%m, %p)
}
%l_e, %b_e = pd.while (%zero, %y) cond (%l, %b) {
  %go2 = pd.less_than (%l, %n)
  cf.cond_yield (%go2, %l, %b)
} body (%l2, %b2) {
  %m2 = pd.increment (%l2) {value = 1.0}
  %q = pd.multiply (%b2, %w)
  cf.yield (%m2, %q)
}
pd.fetch (%a_e) {name = "a"}
pd.fetch (%b_e) {name = "b"}
