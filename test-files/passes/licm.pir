// RUN: pir-opt --pass=licm %s | FileCheck %s
// RUN: pir-opt --pass=licm %s | pir-opt --pass=licm - | FileCheck %s

// The second and the third listing of control_flow.md, section 2.3: the constant is the same in each iteration.

%i = pd.full {shape = [1], value = 0, dtype = i64} : tensor<1xi64>
%ten = pd.full {shape = [1], value = 10, dtype = i64} : tensor<1xi64>
%i_2 = pd.while(%i) {
   ^bb0(%arg1: tensor<1xi64>):
     %cond = pd.less_than(%arg1, %ten)
     cf.cond_yield (%cond, %arg1)
  } do {
   ^bb1(%arg1: tensor<1xi64>):
     %1 = pd.const(1)
     %i_3 = pd.add(%arg1, %1)
     cf.yield (%i_3)
  }
pd.fetch (%i_2) {name = "i"}

// CHECK:      %i = pd.full
// CHECK-NEXT: %ten = pd.full
// CHECK-NEXT: %1 = pd.const {value = 1} : tensor<i64>
// CHECK-NEXT: %i_2 = pd.while (%i) cond (%arg1: tensor<1xi64>) {
// CHECK-NEXT:   %cond = pd.less_than (%arg1, %ten) : tensor<1xi1>
// CHECK-NEXT:   cf.cond_yield (%cond, %arg1)
// CHECK-NEXT: } body (%arg1: tensor<1xi64>) {
// CHECK-NEXT:   %i_3 = pd.add (%arg1, %1) : tensor<1xi64>
// CHECK-NEXT:   cf.yield (%i_3)
// CHECK-NEXT: } : tensor<1xi64>
// CHECK-NEXT: pd.fetch (%i_2) {name = "i"}
