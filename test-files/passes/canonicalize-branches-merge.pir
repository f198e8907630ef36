// RUN: pir-opt --pass=canonicalize %s | FileCheck %s
// NOTE: checks below are generated; regenerate with BLESS=1
// CHECK: // Branches on one condition, or on its negation, that stand one behind the other, become one. What the first gives the
// CHECK-NEXT: // second is then a value of the same branch; what stands between comes first.
// CHECK-NEXT: %c = pd.data {name = "c", shape = [1], dtype = i1} : tensor<1xi1>
// CHECK-NEXT: %x = pd.data {name = "x", shape = [4], dtype = f64} : tensor<4xf64>
// CHECK-NEXT: %y = pd.exp (%x) : tensor<4xf64>
// CHECK-NEXT: %second = pd.if (%c) then {
// CHECK-NEXT:   %a = pd.tanh (%x) : tensor<4xf64>
// CHECK-NEXT:   %m = pd.multiply (%a, %y) : tensor<4xf64>
// CHECK-NEXT:   cf.yield (%m)
// CHECK-NEXT: } else {
// CHECK-NEXT:   %b = pd.sin (%x) : tensor<4xf64>
// CHECK-NEXT:   %p = pd.print (%b) {message = "not c"} : tensor<4xf64>
// CHECK-NEXT:   cf.yield (%b)
// CHECK-NEXT: } : tensor<4xf64>
// CHECK-NEXT: pd.fetch (%second) {name = "second"}

// Branches on one condition, or on its negation, that stand one behind the other, become one. What the first gives the
// second is then a value of the same branch; what stands between comes first.
%c = pd.data {name = "c", shape = [1], dtype = i1} : tensor<1xi1>
%x = pd.data {name = "x", shape = [4], dtype = f64} : tensor<4xf64>
%first = pd.if (%c) then {
  %a = pd.tanh (%x) : tensor<4xf64>
  cf.yield (%a)
} else {
  %b = pd.sin (%x) : tensor<4xf64>
  cf.yield (%b)
} : tensor<4xf64>
%y = pd.exp (%x) : tensor<4xf64>
%second = pd.if (%c) then {
  %m = pd.multiply (%first, %y) : tensor<4xf64>
  cf.yield (%m)
} else {
  cf.yield (%first)
} : tensor<4xf64>
%not = pd.logical_not (%c) : tensor<1xi1>
pd.if (%not) then {
  %p = pd.print (%second) {message = "not c"} : tensor<4xf64>
}
pd.fetch (%second) {name = "second"}
