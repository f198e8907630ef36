// RUN: pir-opt --pass=rotate-while %s | FileCheck %s
// RUN: pir-opt --pass=rotate-while,unrotate-while %s | FileCheck %s --check-prefix=BACK
%n = pd.data {name = "n", shape = [1], dtype = i64} : tensor<1xi64>
%x = pd.data {name = "x", shape = [4], dtype = f64} : tensor<4xf64>
%zero = pd.full {shape = [1], value = 0, dtype = i64} : tensor<1xi64>

// The condition is computed before the loop and at the end of the body; and in one copy again.
%i_end, %y = pd.while (%zero, %x) cond (%i: tensor<1xi64>, %a: tensor<4xf64>) {
  %go = pd.less_than (%i, %n) : tensor<1xi1>
  %t = pd.tanh (%a) : tensor<4xf64>
  cf.cond_yield (%go, %i, %t)
} body (%i_b: tensor<1xi64>, %t_b: tensor<4xf64>) {
  %b = pd.multiply (%t_b, %x) : tensor<4xf64>
  %i_next = pd.increment (%i_b) {value = 1.0} : tensor<1xi64>
  cf.yield (%i_next, %b)
} : tensor<1xi64>, tensor<4xf64>
pd.fetch (%i_end) {name = "i"}
pd.fetch (%y) {name = "y"}

// A branch in the cond region would be copied: that is left alone.
%j_end = pd.while (%zero) cond (%j: tensor<1xi64>) {
  %go = pd.less_than (%j, %n) : tensor<1xi1>
  pd.if (%go) then {
    %p = pd.print (%j) {message = "j"} : tensor<1xi64>
  }
  cf.cond_yield (%go, %j)
} body (%j_b: tensor<1xi64>) {
  %j_next = pd.increment (%j_b) {value = 1.0} : tensor<1xi64>
  cf.yield (%j_next)
} : tensor<1xi64>
pd.fetch (%j_end) {name = "j"}

// CHECK:      %[[GO:.*]] = pd.less_than (%zero, %n)
// CHECK-NEXT: %[[T:.*]] = pd.tanh (%x)
// CHECK:      %i_end, %y = pd.while (%[[GO]], %zero, %[[T]]) cond (%[[F:.*]]: tensor<1xi1>, %i: tensor<1xi64>, %[[A:.*]]: tensor<4xf64>) {
// CHECK-NEXT:   cf.cond_yield (%[[F]], %i, %[[A]])
// CHECK-NEXT: } body (%i_b: tensor<1xi64>, %t_b: tensor<4xf64>) {
// CHECK-NEXT:   %b = pd.multiply (%t_b, %x)
// CHECK-NEXT:   %i_next = pd.increment (%i_b)
// CHECK-NEXT:   %[[GO2:.*]] = pd.less_than (%i_next, %n)
// CHECK-NEXT:   %[[T2:.*]] = pd.tanh (%b)
// CHECK-NEXT:   cf.yield (%[[GO2]], %i_next, %[[T2]])
// CHECK:      %j_end = pd.while (%zero) cond (%j: tensor<1xi64>) {
// CHECK-NEXT:   %{{.*}} = pd.less_than (%j, %n)

// BACK:      %i_end, %y = pd.while (%zero, %x) cond (%[[I:.*]]: tensor<1xi64>, %[[A:.*]]: tensor<4xf64>) {
// BACK-NEXT:   %[[GO:.*]] = pd.less_than (%[[I]], %n)
// BACK-NEXT:   %[[T:.*]] = pd.tanh (%[[A]])
// BACK-NEXT:   cf.cond_yield (%[[GO]], %[[I]], %[[T]])
// BACK-NEXT: } body (%i_b: tensor<1xi64>, %t_b: tensor<4xf64>) {
// BACK-NEXT:   %b = pd.multiply (%t_b, %x)
// BACK-NEXT:   %i_next = pd.increment (%i_b)
// BACK-NEXT:   cf.yield (%i_next, %b)
