// RUN: pir-opt --pass=licm %s | FileCheck %s
// NOTE: checks below are generated; regenerate with BLESS=1
// CHECK: // Out of a branch that differs from iteration to iteration, and a loop that counts to a constant as a whole; but no
// CHECK-NEXT: // division that might fail, and no loop that might not end.
// CHECK-NEXT: %n = pd.data {name = "n", shape = [1], dtype = i64} : tensor<1xi64>
// CHECK-NEXT: %x = pd.data {name = "x", shape = [4], dtype = f64} : tensor<4xf64>
// CHECK-NEXT: %zero = pd.full {shape = [1], value = 0, dtype = i64} : tensor<1xi64>
// CHECK-NEXT: %five = pd.full {shape = [1], value = 5, dtype = i64} : tensor<1xi64>
// CHECK-NEXT: %j_end, %counted = pd.while (%zero, %x) cond (%j: tensor<1xi64>, %b: tensor<4xf64>) {
// CHECK-NEXT:   %go_on = pd.less_than (%j, %five) : tensor<1xi1>
// CHECK-NEXT:   cf.cond_yield (%go_on, %j, %b)
// CHECK-NEXT: } body (%j_b: tensor<1xi64>, %b_b: tensor<4xf64>) {
// CHECK-NEXT:   %c = pd.tanh (%b_b) : tensor<4xf64>
// CHECK-NEXT:   %j_next = pd.increment (%j_b) {value = 1.0} : tensor<1xi64>
// CHECK-NEXT:   cf.yield (%j_next, %c)
// CHECK-NEXT: } : tensor<1xi64>, tensor<4xf64>
// CHECK-NEXT: %e = pd.exp (%x) : tensor<4xf64>
// CHECK-NEXT: %i_end, %y = pd.while (%zero, %x) cond (%i: tensor<1xi64>, %a: tensor<4xf64>) {
// CHECK-NEXT:   %go = pd.less_than (%i, %n) : tensor<1xi1>
// CHECK-NEXT:   cf.cond_yield (%go, %i, %a)
// CHECK-NEXT: } body (%i_b: tensor<1xi64>, %a_b: tensor<4xf64>) {
// CHECK-NEXT:   %k_end, %open = pd.while (%zero, %x) cond (%k: tensor<1xi64>, %b: tensor<4xf64>) {
// CHECK-NEXT:     %go_on = pd.less_than (%k, %n) : tensor<1xi1>
// CHECK-NEXT:     cf.cond_yield (%go_on, %k, %b)
// CHECK-NEXT:   } body (%k_b: tensor<1xi64>, %b_b: tensor<4xf64>) {
// CHECK-NEXT:     %c = pd.tanh (%b_b) : tensor<4xf64>
// CHECK-NEXT:     %k_next = pd.increment (%k_b) {value = 1.0} : tensor<1xi64>
// CHECK-NEXT:     cf.yield (%k_next, %c)
// CHECK-NEXT:   } : tensor<1xi64>, tensor<4xf64>
// CHECK-NEXT:   %odd = pd.equal (%i_b, %five) : tensor<1xi1>
// CHECK-NEXT:   %d, %steps = pd.if (%odd) then {
// CHECK-NEXT:     %f = pd.multiply (%e, %a_b) : tensor<4xf64>
// CHECK-NEXT:     %q = pd.floor_divide (%five, %n) : tensor<1xi64>
// CHECK-NEXT:     cf.yield (%f, %q)
// CHECK-NEXT:   } else {
// CHECK-NEXT:     %g = pd.add (%counted, %open) : tensor<4xf64>
// CHECK-NEXT:     cf.yield (%g, %five)
// CHECK-NEXT:   } : tensor<4xf64>, tensor<1xi64>
// CHECK-NEXT:   %i_next = pd.add (%i_b, %steps) : tensor<1xi64>
// CHECK-NEXT:   cf.yield (%i_next, %d)
// CHECK-NEXT: } : tensor<1xi64>, tensor<4xf64>
// CHECK-NEXT: pd.fetch (%y) {name = "y"}

// Out of a branch that differs from iteration to iteration, and a loop that counts to a constant as a whole; but no
// division that might fail, and no loop that might not end.
%n = pd.data {name = "n", shape = [1], dtype = i64} : tensor<1xi64>
%x = pd.data {name = "x", shape = [4], dtype = f64} : tensor<4xf64>
%zero = pd.full {shape = [1], value = 0, dtype = i64} : tensor<1xi64>
%five = pd.full {shape = [1], value = 5, dtype = i64} : tensor<1xi64>
%i_end, %y = pd.while (%zero, %x) cond (%i: tensor<1xi64>, %a: tensor<4xf64>) {
  %go = pd.less_than (%i, %n) : tensor<1xi1>
  cf.cond_yield (%go, %i, %a)
} body (%i_b: tensor<1xi64>, %a_b: tensor<4xf64>) {
  %j_end, %counted = pd.while (%zero, %x) cond (%j: tensor<1xi64>, %b: tensor<4xf64>) {
    %go_on = pd.less_than (%j, %five) : tensor<1xi1>
    cf.cond_yield (%go_on, %j, %b)
  } body (%j_b: tensor<1xi64>, %b_b: tensor<4xf64>) {
    %c = pd.tanh (%b_b) : tensor<4xf64>
    %j_next = pd.increment (%j_b) {value = 1.0} : tensor<1xi64>
    cf.yield (%j_next, %c)
  } : tensor<1xi64>, tensor<4xf64>
  %k_end, %open = pd.while (%zero, %x) cond (%k: tensor<1xi64>, %b: tensor<4xf64>) {
    %go_on = pd.less_than (%k, %n) : tensor<1xi1>
    cf.cond_yield (%go_on, %k, %b)
  } body (%k_b: tensor<1xi64>, %b_b: tensor<4xf64>) {
    %c = pd.tanh (%b_b) : tensor<4xf64>
    %k_next = pd.increment (%k_b) {value = 1.0} : tensor<1xi64>
    cf.yield (%k_next, %c)
  } : tensor<1xi64>, tensor<4xf64>
  %odd = pd.equal (%i_b, %five) : tensor<1xi1>
  %d, %steps = pd.if (%odd) then {
    %e = pd.exp (%x) : tensor<4xf64>
    %f = pd.multiply (%e, %a_b) : tensor<4xf64>
    %q = pd.floor_divide (%five, %n) : tensor<1xi64>
    cf.yield (%f, %q)
  } else {
    %g = pd.add (%counted, %open) : tensor<4xf64>
    cf.yield (%g, %five)
  } : tensor<4xf64>, tensor<1xi64>
  %i_next = pd.add (%i_b, %steps) : tensor<1xi64>
  cf.yield (%i_next, %d)
} : tensor<1xi64>, tensor<4xf64>
pd.fetch (%y) {name = "y"}
