// RUN: pir-opt --pass=sccp %s | FileCheck %s

// None of these is a constant.
%n = pd.data {name = "n", shape = [1], dtype = i64}
%c = pd.data {name = "c", shape = [1], dtype = i1}
%zero = pd.full {shape = [1], value = 0, dtype = i64}
%one = pd.full {shape = [1], value = 1, dtype = i64}

// A loop that may run zero times gives its initial values or what it ends with.
%k_e, %last = pd.while (%zero, %zero) cond (%k, %a) {
  %go = pd.less_than (%k, %n)
  cf.cond_yield (%go, %k, %a)
} body (%l, %b) {
  %m = pd.increment (%l) {value = 1.0}
  cf.yield (%m, %one)
}
pd.fetch (%last) {name = "last"}

// A division by zero fails when the program runs, and not before.
%failing = pd.floor_divide (%one, %zero)
pd.fetch (%failing) {name = "failing"}

// What is not a number stays to be seen.
%fzero = pd.full {shape = [1], value = 0.0, dtype = f32}
%nan = pd.divide (%fzero, %fzero)
pd.fetch (%nan) {name = "nan"}

// 0.0 and -0.0 are equal, but not the same.
%minus = pd.full {shape = [1], value = -0.0, dtype = f32}
%some = pd.if (%c) then {
  cf.yield (%fzero)
} else {
  cf.yield (%minus)
}
pd.fetch (%some) {name = "some"}

// A stack may hold anything.
%stack = cf.create_stack ()
cf.push_back (%stack, %one)
%popped = cf.pop_back (%stack) : tensor<1xi64>
pd.fetch (%popped) {name = "popped"}

// What is printed is computed, but the print stays.
%shown = pd.print (%one) {message = "m"}
pd.fetch (%shown) {name = "shown"}
// NOTE: checks below are generated; regenerate with BLESS=1
// CHECK: // None of these is a constant.
// CHECK-NEXT: %n = pd.data {name = "n", shape = [1], dtype = i64} : tensor<1xi64>
// CHECK-NEXT: %c = pd.data {name = "c", shape = [1], dtype = i1} : tensor<1xi1>
// CHECK-NEXT: %zero = pd.full {shape = [1], value = 0, dtype = i64} : tensor<1xi64>
// CHECK-NEXT: %one = pd.full {shape = [1], value = 1, dtype = i64} : tensor<1xi64>
// CHECK-NEXT: // A loop that may run zero times gives its initial values or what it ends with.
// CHECK-NEXT: %k_e, %last = pd.while (%zero, %zero) cond (%k: tensor<1xi64>, %a: tensor<1xi64>) {
// CHECK-NEXT:   %go = pd.less_than (%k, %n) : tensor<1xi1>
// CHECK-NEXT:   cf.cond_yield (%go, %k, %a)
// CHECK-NEXT: } body (%l: tensor<1xi64>, %b: tensor<1xi64>) {
// CHECK-NEXT:   %m = pd.increment (%l) {value = 1.0} : tensor<1xi64>
// CHECK-NEXT:   cf.yield (%m, %one)
// CHECK-NEXT: } : tensor<1xi64>, tensor<1xi64>
// CHECK-NEXT: pd.fetch (%last) {name = "last"}
// CHECK-NEXT: // A division by zero fails when the program runs, and not before.
// CHECK-NEXT: %failing = pd.floor_divide (%one, %zero) : tensor<1xi64>
// CHECK-NEXT: pd.fetch (%failing) {name = "failing"}
// CHECK-NEXT: // What is not a number stays to be seen.
// CHECK-NEXT: %fzero = pd.full {shape = [1], value = 0.0, dtype = f32} : tensor<1xf32>
// CHECK-NEXT: %nan = pd.divide (%fzero, %fzero) : tensor<1xf32>
// CHECK-NEXT: pd.fetch (%nan) {name = "nan"}
// CHECK-NEXT: // 0.0 and -0.0 are equal, but not the same.
// CHECK-NEXT: %minus = pd.full {shape = [1], value = -0.0, dtype = f32} : tensor<1xf32>
// CHECK-NEXT: %some = pd.if (%c) then {
// CHECK-NEXT:   cf.yield (%fzero)
// CHECK-NEXT: } else {
// CHECK-NEXT:   cf.yield (%minus)
// CHECK-NEXT: } : tensor<1xf32>
// CHECK-NEXT: pd.fetch (%some) {name = "some"}
// CHECK-NEXT: // A stack may hold anything.
// CHECK-NEXT: %stack = cf.create_stack () : cf.stack
// CHECK-NEXT: cf.push_back (%stack, %one)
// CHECK-NEXT: %popped = cf.pop_back (%stack) : tensor<1xi64>
// CHECK-NEXT: pd.fetch (%popped) {name = "popped"}
// CHECK-NEXT: // What is printed is computed, but the print stays.
// CHECK-NEXT: %shown = pd.print (%one) {message = "m"} : tensor<1xi64>
// CHECK-NEXT: pd.fetch (%shown) {name = "shown"}
