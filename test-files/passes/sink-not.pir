// RUN: pir-opt --pass=sink %s | FileCheck %s

// Nothing here moves.
%c = pd.data {name = "c", shape = [1], dtype = i1}
%x = pd.data {name = "x", shape = [4], dtype = f32}
%n = pd.data {name = "n", shape = [1], dtype = i64}
%zero = pd.full {shape = [1], value = 0, dtype = i64}

// Needed in both branches, or behind them.
%both = pd.tanh (%x)
%behind = pd.sin (%x)
// Printed whether the branch is taken or not.
%shown = pd.print (%x) {message = "always"}
// The stack would be empty later on.
%stack = cf.create_stack ()
cf.push_back (%stack, %x)
%empty = cf.is_empty (%stack)
%popped = cf.pop_back (%stack) : tensor<4xf32>
%r = pd.if (%c) then {
  %u = pd.add (%both, %behind)
  %v = pd.add (%u, %shown)
  %w = pd.if (%empty) then {
    cf.yield (%popped)
  } else {
    cf.yield (%v)
  }
  %p = pd.add (%w, %v)
  cf.yield (%p)
} else {
  cf.yield (%both)
}
pd.fetch (%r) {name = "r"}
pd.fetch (%behind) {name = "behind"}

// A loop would compute it again in each iteration, and its condition is looked at even if the body never runs.
%once = pd.exp (%x)
%k_e, %a_e = pd.while (%zero, %x) cond (%k, %a) {
  %go = pd.less_than (%k, %n)
  cf.cond_yield (%go, %k, %a)
} body (%l, %b) {
  %m = pd.increment (%l) {value = 1.0}
  %sum = pd.if (%c) then {
    %s = pd.add (%b, %once)
    cf.yield (%s)
  } else {
    cf.yield (%b)
  }
  cf.yield (%m, %sum)
}
pd.fetch (%a_e) {name = "a"}
// NOTE: checks below are generated; regenerate with BLESS=1
// CHECK: // Nothing here moves.
// CHECK-NEXT: %c = pd.data {name = "c", shape = [1], dtype = i1} : tensor<1xi1>
// CHECK-NEXT: %x = pd.data {name = "x", shape = [4], dtype = f32} : tensor<4xf32>
// CHECK-NEXT: %n = pd.data {name = "n", shape = [1], dtype = i64} : tensor<1xi64>
// CHECK-NEXT: %zero = pd.full {shape = [1], value = 0, dtype = i64} : tensor<1xi64>
// CHECK-NEXT: // Needed in both branches, or behind them.
// CHECK-NEXT: %both = pd.tanh (%x) : tensor<4xf32>
// CHECK-NEXT: %behind = pd.sin (%x) : tensor<4xf32>
// CHECK-NEXT: // Printed whether the branch is taken or not.
// CHECK-NEXT: %shown = pd.print (%x) {message = "always"} : tensor<4xf32>
// CHECK-NEXT: // The stack would be empty later on.
// CHECK-NEXT: %stack = cf.create_stack () : cf.stack
// CHECK-NEXT: cf.push_back (%stack, %x)
// CHECK-NEXT: %empty = cf.is_empty (%stack) : i1
// CHECK-NEXT: %popped = cf.pop_back (%stack) : tensor<4xf32>
// CHECK-NEXT: %r = pd.if (%c) then {
// CHECK-NEXT:   %u = pd.add (%both, %behind) : tensor<4xf32>
// CHECK-NEXT:   %v = pd.add (%u, %shown) : tensor<4xf32>
// CHECK-NEXT:   %w = pd.if (%empty) then {
// CHECK-NEXT:     cf.yield (%popped)
// CHECK-NEXT:   } else {
// CHECK-NEXT:     cf.yield (%v)
// CHECK-NEXT:   } : tensor<4xf32>
// CHECK-NEXT:   %p = pd.add (%w, %v) : tensor<4xf32>
// CHECK-NEXT:   cf.yield (%p)
// CHECK-NEXT: } else {
// CHECK-NEXT:   cf.yield (%both)
// CHECK-NEXT: } : tensor<4xf32>
// CHECK-NEXT: pd.fetch (%r) {name = "r"}
// CHECK-NEXT: pd.fetch (%behind) {name = "behind"}
// CHECK-NEXT: // A loop would compute it again in each iteration, and its condition is looked at even if the body never runs.
// CHECK-NEXT: %once = pd.exp (%x) : tensor<4xf32>
// CHECK-NEXT: %k_e, %a_e = pd.while (%zero, %x) cond (%k: tensor<1xi64>, %a: tensor<4xf32>) {
// CHECK-NEXT:   %go = pd.less_than (%k, %n) : tensor<1xi1>
// CHECK-NEXT:   cf.cond_yield (%go, %k, %a)
// CHECK-NEXT: } body (%l: tensor<1xi64>, %b: tensor<4xf32>) {
// CHECK-NEXT:   %m = pd.increment (%l) {value = 1.0} : tensor<1xi64>
// CHECK-NEXT:   %sum = pd.if (%c) then {
// CHECK-NEXT:     %s = pd.add (%b, %once) : tensor<4xf32>
// CHECK-NEXT:     cf.yield (%s)
// CHECK-NEXT:   } else {
// CHECK-NEXT:     cf.yield (%b)
// CHECK-NEXT:   } : tensor<4xf32>
// CHECK-NEXT:   cf.yield (%m, %sum)
// CHECK-NEXT: } : tensor<1xi64>, tensor<4xf32>
// CHECK-NEXT: pd.fetch (%a_e) {name = "a"}
