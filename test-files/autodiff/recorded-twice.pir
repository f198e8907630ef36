// RUN: pir-opt --pass=backward,cse,prune-stacks %s | FileCheck %s
// RUN: pir-run --check-grad --input 'x=[1.0, 2.0]' --input 'i=0' %s
// RUN: pir-opt --pass=backward,cse,prune-stacks %s | pir-run --input 'x=[1.0, 2.0]' --input 'i=0' - | FileCheck %s --check-prefix=VALUE
// `cse` makes one of two equal values, and then one record serves both.
// VALUE: x_grad = tensor<2xf64> [0.464663175{{[0-9]+}}, -0.376397621{{[0-9]+}}]
%x = pd.data {name = "x", shape = [2], dtype = f64} : tensor<2xf64>
%i = pd.data {name = "i", shape = [], dtype = i64} : tensor<i64>
%three = pd.full {shape = [], value = 3, dtype = i64} : tensor<i64>
%one = pd.full {shape = [], value = 1, dtype = i64} : tensor<i64>
// CHECK: pd.while
// CHECK: cf.push_back (%stack, %a)
// CHECK-NEXT: cf.push_back (%stack, %s)
// CHECK-NEXT: cf.push_back (%stack, %u)
// CHECK-NEXT: cf.yield
// CHECK: pd.while_grad
// CHECK-COUNT-3: cf.pop_back
// CHECK-NOT: cf.pop_back
%k, %r = pd.while (%i, %x) cond (%k: tensor<i64>, %a: tensor<2xf64>) {
  %more = pd.less_than (%k, %three)
  cf.cond_yield (%more, %k, %a)
} body (%k: tensor<i64>, %a: tensor<2xf64>) {
  %next = pd.add (%k, %one)
  %s = pd.sin (%a)
  %t = pd.sin (%a)
  %u = pd.multiply (%a, %s)
  %v = pd.multiply (%u, %t)
  cf.yield (%next, %v)
} : tensor<i64>, tensor<2xf64>
pd.fetch (%r) {name = "r"}
