// RUN: pir-opt --pass=backward,batch-weight-grads %s | FileCheck %s
// The gradient of a weight is one product behind the loop; that of a bias stays a sum, and so does that of a weight
// whose factors are larger than it is.
%n = pd.data {name = "n", shape = [1], dtype = i64} : tensor<1xi64>
%zero = pd.full {shape = [1], value = 0, dtype = i64} : tensor<1xi64>
%one = pd.full {shape = [1], value = 1, dtype = i64} : tensor<1xi64>
%x = pd.data {name = "x", shape = [1, 4], dtype = f32} : tensor<1x4xf32>
%b = pd.data {name = "b", shape = [1, 4], dtype = f32} : tensor<1x4xf32>
%w = pd.data {name = "w", shape = [4, 4], dtype = f32} : tensor<4x4xf32>
%m = pd.data {name = "m", shape = [1, 1], dtype = f32} : tensor<1x1xf32>
%i_end, %h_end = pd.while (%zero, %x) cond (%i: tensor<1xi64>, %h: tensor<1x4xf32>) {
  %go = pd.less_than (%i, %n) : tensor<1xi1>
  cf.cond_yield (%go, %i, %h)
} body (%i_b: tensor<1xi64>, %h_b: tensor<1x4xf32>) {
  %p = pd.matmul (%h_b, %w) : tensor<1x4xf32>
  %q = pd.matmul (%m, %p) : tensor<1x4xf32>
  %s = pd.add (%q, %b) : tensor<1x4xf32>
  %t = pd.tanh (%s) : tensor<1x4xf32>
  %next = pd.add (%i_b, %one) : tensor<1xi64>
  cf.yield (%next, %t)
} : tensor<1xi64>, tensor<1x4xf32>
%loss = pd.sum (%h_end) : tensor<f32>
pd.fetch (%loss) {name = "loss"}
// CHECK: %h_b_stack = cf.create_stack
// CHECK-NEXT: %p_grad_stack = cf.create_stack
// CHECK-NEXT: pd.while_grad
// CHECK-NOT: w_grad
// CHECK: pd.matmul ({{.*}} : tensor<1x1xf32>
// CHECK-NOT: pd.matmul ({{.*}} : tensor<4x4xf32>
// CHECK: cf.push_back (%h_b_stack, %h_b)
// CHECK-NEXT: cf.push_back (%p_grad_stack, %p_grad)
// CHECK-NEXT: cf.yield
// CHECK: [[XS:%.*]] = cf.join_stack (%h_b_stack) {axis = 0} : tensor<?x4xf32>
// CHECK-NEXT: [[GS:%.*]] = cf.join_stack (%p_grad_stack) {axis = 0} : tensor<?x4xf32>
// CHECK-NEXT: [[P:%.*]] = pd.matmul ([[XS]], [[GS]]) {transpose_x = true, transpose_y = false} : tensor<4x4xf32>
// CHECK-NEXT: %w_grad_1 = pd.add (%w_grad, [[P]])
// CHECK: pd.fetch (%w_grad_1) {name = "w_grad"}
