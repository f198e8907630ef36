// RUN: pir-opt --pass=forward-args %s | FileCheck %s

// The loop of control_flow.md, section 2.3, as it is first translated: `%ten` is carried although it never changes.

%i = pd.full {shape = [1], value = 0, dtype = i64} : tensor<1xi64>
%ten = pd.full {shape = [1], value = 10, dtype = i64} : tensor<1xi64>
%i_2, %ten2 = pd.while(%i, %ten) {
    ^bb0 (%arg1: tensor<1xi64>, %arg2: tensor<1xi64>):
      %cond = pd.less_than(%arg1, %arg2)
      cf.cond_yield (%cond, %arg1, %arg2)
  } do {
    ^bb1(%arg1: tensor<1xi64>, %arg2: tensor<1xi64>):
      %1 = pd.const(1)
      %i_3 = pd.add(%arg1, %1)
      cf.yield (%i_3, %arg2)
  }
pd.fetch (%i_2) {name = "i"}
pd.fetch (%ten2) {name = "ten"}

// CHECK:      %i = pd.full
// CHECK-NEXT: %ten = pd.full
// CHECK-NEXT: %i_2 = pd.while (%i) cond (%arg1: tensor<1xi64>) {
// CHECK-NEXT:   %cond = pd.less_than (%arg1, %ten) : tensor<1xi1>
// CHECK-NEXT:   cf.cond_yield (%cond, %arg1)
// CHECK-NEXT: } body (%arg1: tensor<1xi64>) {
// CHECK-NEXT:   %1 = pd.const {value = 1} : tensor<i64>
// CHECK-NEXT:   %i_3 = pd.add (%arg1, %1) : tensor<1xi64>
// CHECK-NEXT:   cf.yield (%i_3)
// CHECK-NEXT: } : tensor<1xi64>
// CHECK-NEXT: pd.fetch (%i_2) {name = "i"}
// CHECK-NEXT: pd.fetch (%ten) {name = "ten"}
