// RUN: pir-opt --pass=sink %s | FileCheck %s

%c = pd.data {name = "c", shape = [1], dtype = i1}
%x = pd.data {name = "x", shape = [4], dtype = f32}
%n = pd.data {name = "n", shape = [1], dtype = i64}
%zero = pd.full {shape = [1], value = 0, dtype = i64}

// Needed by one branch only, in it by one branch only; what it is computed from goes along.
%t = pd.tanh (%x)
%e = pd.exp (%t)
// Needed by a loop in a branch: it goes in front of the loop.
%s = pd.sin (%x)
// A division by zero that nobody looks at need not fail.
%d = pd.floor_divide (%n, %zero)
%r, %q = pd.if (%c) then {
  %inner = pd.if (%c) then {
    cf.yield (%e)
  } else {
    cf.yield (%x)
  }
  cf.yield (%inner, %zero)
} else {
  %k_e, %a_e = pd.while (%zero, %x) cond (%k, %a) {
    %go = pd.less_than (%k, %n)
    cf.cond_yield (%go, %k, %a)
  } body (%l, %b) {
    %m = pd.increment (%l) {value = 1.0}
    %sum = pd.add (%b, %s)
    cf.yield (%m, %sum)
  }
  cf.yield (%a_e, %d)
}
pd.fetch (%r) {name = "r"}
pd.fetch (%q) {name = "q"}
// NOTE: checks below are generated; regenerate with BLESS=1
// CHECK: %c = pd.data {name = "c", shape = [1], dtype = i1} : tensor<1xi1>
// CHECK-NEXT: %x = pd.data {name = "x", shape = [4], dtype = f32} : tensor<4xf32>
// CHECK-NEXT: %n = pd.data {name = "n", shape = [1], dtype = i64} : tensor<1xi64>
// CHECK-NEXT: %zero = pd.full {shape = [1], value = 0, dtype = i64} : tensor<1xi64>
// CHECK-NEXT: %r, %q = pd.if (%c) then {
// CHECK-NEXT:   %inner = pd.if (%c) then {
// CHECK-NEXT:     // Needed by one branch only, in it by one branch only; what it is computed from goes along.
// CHECK-NEXT:     %t = pd.tanh (%x) : tensor<4xf32>
// CHECK-NEXT:     %e = pd.exp (%t) : tensor<4xf32>
// CHECK-NEXT:     cf.yield (%e)
// CHECK-NEXT:   } else {
// CHECK-NEXT:     cf.yield (%x)
// CHECK-NEXT:   } : tensor<4xf32>
// CHECK-NEXT:   cf.yield (%inner, %zero)
// CHECK-NEXT: } else {
// CHECK-NEXT:   // Needed by a loop in a branch: it goes in front of the loop.
// CHECK-NEXT:   %s = pd.sin (%x) : tensor<4xf32>
// CHECK-NEXT:   // A division by zero that nobody looks at need not fail.
// CHECK-NEXT:   %d = pd.floor_divide (%n, %zero) : tensor<1xi64>
// CHECK-NEXT:   %k_e, %a_e = pd.while (%zero, %x) cond (%k: tensor<1xi64>, %a: tensor<4xf32>) {
// CHECK-NEXT:     %go = pd.less_than (%k, %n) : tensor<1xi1>
// CHECK-NEXT:     cf.cond_yield (%go, %k, %a)
// CHECK-NEXT:   } body (%l: tensor<1xi64>, %b: tensor<4xf32>) {
// CHECK-NEXT:     %m = pd.increment (%l) {value = 1.0} : tensor<1xi64>
// CHECK-NEXT:     %sum = pd.add (%b, %s) : tensor<4xf32>
// CHECK-NEXT:     cf.yield (%m, %sum)
// CHECK-NEXT:   } : tensor<1xi64>, tensor<4xf32>
// CHECK-NEXT:   cf.yield (%a_e, %d)
// CHECK-NEXT: } : tensor<4xf32>, tensor<1xi64>
// CHECK-NEXT: pd.fetch (%r) {name = "r"}
// CHECK-NEXT: pd.fetch (%q) {name = "q"}
