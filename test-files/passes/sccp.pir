// RUN: pir-opt --pass=sccp,canonicalize,dce %s | FileCheck %s

// The value carried stays 1 as long as it is 1: the other branch is never taken. And what is computed from it after the
// loop is a constant, too. What is left of the loop is its count.
%n = pd.data {name = "n", shape = [1], dtype = i64}
%zero = pd.full {shape = [1], value = 0, dtype = i64}
%one = pd.full {shape = [1], value = 1, dtype = i64}
%two = pd.full {shape = [1], value = 2, dtype = i64}
%k_e, %a_e = pd.while (%zero, %one) cond (%k, %a) {
  %go = pd.less_than (%k, %n)
  cf.cond_yield (%go, %k, %a)
} body (%l, %b) {
  %low = pd.less_than (%b, %two)
  %next = pd.if (%low) then {
    %same = pd.multiply (%b, %one)
    cf.yield (%same)
  } else {
    %shown = pd.print (%b) {message = "never"}
    cf.yield (%shown)
  }
  %m = pd.increment (%l) {value = 1.0}
  cf.yield (%m, %next)
}
%sum = pd.add (%a_e, %two)
pd.fetch (%sum) {name = "sum"}
pd.fetch (%k_e) {name = "k"}

// The same between blocks; the block that is never reached goes.
func.func @blocks(%x: tensor<1xi64>) -> tensor<1xi64> {
  %start = pd.full {shape = [1], value = 1, dtype = i64}
  pd.branch ^loop(%start)
^loop(%a: tensor<1xi64>):
  %limit = pd.full {shape = [1], value = 2, dtype = i64}
  %low = pd.less_than (%a, %limit)
  pd.condition_branch %low, ^same, ^other
^same:
  %more = pd.less_than (%x, %a)
  pd.condition_branch %more, ^loop(%a), ^end(%a)
^other:
  pd.branch ^loop(%x)
^end(%r: tensor<1xi64>):
  func.return (%r)
}
// NOTE: checks below are generated; regenerate with BLESS=1
// CHECK: // The value carried stays 1 as long as it is 1: the other branch is never taken. And what is computed from it after the
// CHECK-NEXT: // loop is a constant, too. What is left of the loop is its count.
// CHECK-NEXT: %n = pd.data {name = "n", shape = [1], dtype = i64} : tensor<1xi64>
// CHECK-NEXT: %zero = pd.full {shape = [1], value = 0, dtype = i64} : tensor<1xi64>
// CHECK-NEXT: %k_e = pd.while (%zero) cond (%k: tensor<1xi64>) {
// CHECK-NEXT:   %go = pd.less_than (%k, %n) : tensor<1xi1>
// CHECK-NEXT:   cf.cond_yield (%go, %k)
// CHECK-NEXT: } body (%l: tensor<1xi64>) {
// CHECK-NEXT:   %m = pd.increment (%l) {value = 1.0} : tensor<1xi64>
// CHECK-NEXT:   cf.yield (%m)
// CHECK-NEXT: } : tensor<1xi64>
// CHECK-NEXT: %sum = pd.full {shape = [1], value = 3, dtype = i64} : tensor<1xi64>
// CHECK-NEXT: pd.fetch (%sum) {name = "sum"}
// CHECK-NEXT: pd.fetch (%k_e) {name = "k"}
// CHECK-NEXT: // The same between blocks; the block that is never reached goes.
// CHECK-NEXT: func.func @blocks(%x: tensor<1xi64>) -> tensor<1xi64> {
// CHECK-NEXT:   pd.branch ^loop
// CHECK-NEXT: ^loop:
// CHECK-NEXT:   %a = pd.full {shape = [1], value = 1, dtype = i64} : tensor<1xi64>
// CHECK-NEXT:   pd.branch ^same
// CHECK-NEXT: ^same:
// CHECK-NEXT:   %more = pd.less_than (%x, %a) : tensor<1xi1>
// CHECK-NEXT:   pd.condition_branch %more, ^loop, ^end
// CHECK-NEXT: ^end:
// CHECK-NEXT:   %r = pd.full {shape = [1], value = 1, dtype = i64} : tensor<1xi64>
// CHECK-NEXT:   func.return (%r)
// CHECK-NEXT: }
