// RUN: pir-opt --pass=backward,remat{recompute=none} %s | FileCheck %s --check-prefix=NONE
// RUN: pir-opt --pass=backward,remat %s | FileCheck %s
// RUN: pir-opt --pass=backward,remat{recompute=all} %s | FileCheck %s --check-prefix=ALL
// Three functions of one product: the product is recorded in their place, or nothing but the argument.
%n = pd.data {name = "n", shape = [1], dtype = i64} : tensor<1xi64>
%zero = pd.full {shape = [1], value = 0, dtype = i64} : tensor<1xi64>
%one = pd.full {shape = [1], value = 1, dtype = i64} : tensor<1xi64>
%x = pd.data {name = "x", shape = [1, 4], dtype = f32} : tensor<1x4xf32>
%w = pd.data {name = "w", shape = [4, 4], dtype = f32} : tensor<4x4xf32>
%i_end, %h_end = pd.while (%zero, %x) cond (%i: tensor<1xi64>, %h: tensor<1x4xf32>) {
  %go = pd.less_than (%i, %n) : tensor<1xi1>
  cf.cond_yield (%go, %i, %h)
} body (%i_b: tensor<1xi64>, %h_b: tensor<1x4xf32>) {
  %p = pd.matmul (%h_b, %w) : tensor<1x4xf32>
  %a = pd.tanh (%p) : tensor<1x4xf32>
  %b = pd.sigmoid (%p) : tensor<1x4xf32>
  %c = pd.exp (%p) : tensor<1x4xf32>
  %ab = pd.multiply (%a, %b) : tensor<1x4xf32>
  %abc = pd.multiply (%ab, %c) : tensor<1x4xf32>
  %next = pd.add (%i_b, %one) : tensor<1xi64>
  cf.yield (%next, %abc)
} : tensor<1xi64>, tensor<1x4xf32>
%loss = pd.sum (%h_end) : tensor<f32>
pd.fetch (%loss) {name = "loss"}
// NONE-COUNT-5: cf.push_back
// NONE-NOT: cf.push_back
// NONE: pd.while_grad
// NONE-NOT: pd.tanh (
// NONE: pd.fetch

// CHECK: cf.push_back (%stack, %h_b)
// CHECK-NEXT: cf.push_back (%stack, %p)
// CHECK-NEXT: cf.yield
// CHECK: pd.while_grad
// CHECK: %p = cf.pop_back (%stack)
// CHECK-NEXT: %h_b = cf.pop_back (%stack)
// CHECK-NEXT: %a = pd.tanh (%p)
// CHECK-NEXT: %b = pd.sigmoid (%p)
// CHECK-DAG: pd.exp (%p)
// CHECK-DAG: %ab = pd.multiply (%a, %b)
// CHECK: pd.fetch

// ALL: cf.push_back (%stack, %h_b)
// ALL-NEXT: cf.yield
// ALL: pd.while_grad
// ALL: %h_b = cf.pop_back (%stack)
// ALL-NEXT: %p = pd.matmul (%h_b, %w)
// ALL: pd.fetch
