// RUN: pir-opt --pass=backward,remat %s | FileCheck %s
// A comparison of floats that chose a branch is recorded, not computed again: rounded in another way it might choose the other.
%n = pd.data {name = "n", shape = [], dtype = i64} : tensor<i64>
%x = pd.data {name = "x", shape = [], dtype = f32} : tensor<f32>
%zero = pd.full {shape = [], value = 0, dtype = i64} : tensor<i64>
%one = pd.full {shape = [], value = 1, dtype = i64} : tensor<i64>
%i_end, %y = pd.while (%zero, %x) cond (%i: tensor<i64>, %a: tensor<f32>) {
  %go = pd.less_than (%i, %n) : tensor<i1>
  cf.cond_yield (%go, %i, %a)
} body (%i: tensor<i64>, %b: tensor<f32>) {
  %s = pd.sin (%b) : tensor<f32>
  %grows = pd.less_than (%s, %b) : tensor<i1>
  %c = pd.if (%grows) then {
    %d = pd.multiply (%s, %b) : tensor<f32>
    cf.yield (%d)
  } else {
    cf.yield (%s)
  } : tensor<f32>
  %next = pd.add (%i, %one) : tensor<i64>
  cf.yield (%next, %c)
} : tensor<i64>, tensor<f32>
pd.fetch (%y) {name = "y"}

// CHECK: cf.push_back ({{%[a-z]+}}, %grows)
// CHECK: pd.while_grad
// CHECK-NOT: pd.less_than
// CHECK: %grows = cf.pop_back
// CHECK: pd.if_grad (%grows)
