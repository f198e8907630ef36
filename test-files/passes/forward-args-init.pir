// RUN: pir-opt --pass=forward-args %s | FileCheck %s

// The init region hands on its arguments and a stack, and goes on doing so; what never changes is carried no more.

%i = pd.full {shape = [1], value = 0, dtype = i64} : tensor<1xi64>
%ten = pd.data {name = "ten", shape = [1], dtype = i64} : tensor<1xi64>
%i_2, %ten2, %locals = pd.while (%i, %ten) init (%a: tensor<1xi64>, %b: tensor<1xi64>) {
  %stack = cf.create_stack () : cf.stack
  cf.yield (%a, %b, %stack)
} cond (%arg1: tensor<1xi64>, %arg2: tensor<1xi64>, %s: cf.stack) {
  %cond = pd.less_than (%arg1, %arg2) : tensor<1xi1>
  cf.cond_yield (%cond, %arg1, %arg2, %s)
} body (%arg3: tensor<1xi64>, %arg4: tensor<1xi64>, %s2: cf.stack) {
  cf.push_back (%s2, %arg4)
  %i_3 = pd.increment (%arg3) {value = 1.0} : tensor<1xi64>
  cf.yield (%i_3, %arg4, %s2)
} : tensor<1xi64>, tensor<1xi64>, cf.stack
pd.fetch (%i_2) {name = "i"}
pd.fetch (%ten2) {name = "ten"}

// CHECK:      %i_2, %locals = pd.while (%i) init (%a: tensor<1xi64>) {
// CHECK-NEXT:   %stack = cf.create_stack
// CHECK-NEXT:   cf.yield (%a, %stack)
// CHECK-NEXT: } cond (%arg1: tensor<1xi64>, %s: cf.stack) {
// CHECK-NEXT:   %cond = pd.less_than (%arg1, %ten)
// CHECK-NEXT:   cf.cond_yield (%cond, %arg1, %s)
// CHECK-NEXT: } body (%arg3: tensor<1xi64>, %s2: cf.stack) {
// CHECK-NEXT:   cf.push_back (%s2, %ten)
// CHECK:        cf.yield (%i_3, %s2)
// CHECK:      pd.fetch (%ten) {name = "ten"}
