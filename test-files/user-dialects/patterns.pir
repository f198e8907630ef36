// Pairs of programs are patterns of `canonicalize`.
// RUN: pir-opt --load-dialect %S/inputs/patterns.yaml --pass=canonicalize %s | FileCheck %s
// RUN: not pir-opt --load-dialect %S/inputs/bad-patterns.yaml %s 2>&1 | FileCheck %s --check-prefix=BAD
%x = pd.data {name = "x", shape = [3], dtype = f64} : tensor<3xf64>
%y = pd.data {name = "y", shape = [3], dtype = f64} : tensor<3xf64>
%f1 = p.flip (%x)
%f2 = p.flip (%f1)
%f3 = p.flip (%f2)
// CHECK: %f3 = p.flip (%x) : tensor<3xf64>
// CHECK-NEXT: pd.fetch (%f3) {name = "f"}
pd.fetch (%f3) {name = "f"}
%a = p.scale (%x) {by = 2.0}
%b = p.scale (%y) {by = 2.0}
%c = pd.add (%a, %b)
// CHECK-NEXT: %a = p.scale (%x) {by = 2.0} : tensor<3xf64>
// CHECK-NEXT: %s = pd.add (%x, %y) : tensor<3xf64>
// CHECK-NEXT: %c = p.scale (%s) {by = 2.0} : tensor<3xf64>
// CHECK-NEXT: pd.fetch (%c) {name = "c"}
pd.fetch (%c) {name = "c"}
%d = p.scale (%y) {by = 3.0}
%e = pd.add (%a, %d)
// CHECK-NEXT: %d = p.scale (%y) {by = 3.0} : tensor<3xf64>
// CHECK-NEXT: %e = pd.add (%a, %d) : tensor<3xf64>
pd.fetch (%e) {name = "e"}
%g = p.scale (%x) {by = 1.0}
// CHECK: pd.fetch (%x) {name = "g"}
pd.fetch (%g) {name = "g"}
%m = p.mystery (%x)
// CHECK-NEXT: %m = pd.tanh (%x) : tensor<3xf64>
pd.fetch (%m) {name = "m"}
// BAD: bad-patterns.yaml:10:11: error: expected an operation `%y = dialect.op (%x) {name = value}`
// BAD-NEXT: bad-patterns.yaml:14:5: error: the results of this operation have no uses in `match`
// BAD-NEXT: bad-patterns.yaml:22:3: error: unknown field `rewite`
// BAD-NEXT: help: did you mean `rewrite`?
// RUN: not pir-opt --load-dialect %S/inputs/wrong-patterns.yaml %s 2>&1 | FileCheck %s --check-prefix=WRONG
// WRONG: wrong-patterns.yaml:5:5: error: there is no operation `pd.tahn`
// WRONG-NEXT: help: did you mean `pd.tanh`?
// WRONG-NEXT: wrong-patterns.yaml:9:5: error: `pd.scale` has no attribute `scal`
// WRONG-NEXT: help: did you mean `scale`?
// WRONG-NEXT: wrong-patterns.yaml:15:18: error: there is no value `%z` here
