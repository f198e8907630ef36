// RUN: pir-opt --pass=backward,batch-weight-grads,unbatch-weight-grads %s | FileCheck %s
// RUN: pir-opt --pass=backward,batch-weight-grads %s | FileCheck %s --check-prefix=BATCHED
// RUN: pir-opt --pass=training %s --emit=paddle-json | FileCheck %s --check-prefix=PADDLE
// RUN: pir-opt --pass=training,lower-to-dataflow %s | FileCheck %s --check-prefix=GRAPH

%zero = pd.full {shape = [], value = 0, dtype = i64} : tensor<i64>
%one = pd.full {shape = [], value = 1, dtype = i64} : tensor<i64>
%n = pd.data {name = "n", shape = [], dtype = i64} : tensor<i64>
%x = pd.data {name = "x", shape = [1, 4], dtype = f64} : tensor<1x4xf64>
%w = pd.data {name = "w", shape = [4, 4], dtype = f64} : tensor<4x4xf64>
%u = pd.data {name = "u", shape = [4, 4], dtype = f64} : tensor<4x4xf64>
%steps, %h = pd.while (%zero, %x) cond (%i: tensor<i64>, %a: tensor<1x4xf64>) {
  %go = pd.less_than (%i, %n) : tensor<i1>
  cf.cond_yield (%go, %i, %a)
} body (%j: tensor<i64>, %b: tensor<1x4xf64>) {
  %p = pd.matmul (%b, %w) : tensor<1x4xf64>
  %q = pd.matmul (%b, %u) : tensor<1x4xf64>
  %s = pd.sin (%p) : tensor<1x4xf64>
  %c = pd.multiply (%s, %q) : tensor<1x4xf64>
  %next = pd.add (%j, %one) : tensor<i64>
  cf.yield (%next, %c)
} : tensor<i64>, tensor<1x4xf64>
%loss = pd.sum (%h) : tensor<f64>
pd.fetch (%loss) {name = "loss"}

// A factor of two products is pushed once.
// BATCHED:         pd.while_grad (%h_grad) cond
// BATCHED:         cf.push_back (%b_stack, %b)
// BATCHED-NOT:     cf.push_back ({{.*}}, %b)
// BATCHED:         %b_all = cf.join_stack (%b_stack)
// BATCHED-COUNT-2: pd.matmul (%b_all,

// CHECK-NOT: cf.join_stack
// CHECK:     %a_grad, %w_grad, %u_grad = pd.while_grad
// CHECK:     %[[P:.*]] = pd.matmul (%b, %q_grad) {transpose_x = true
// CHECK:     %u_grad_1 = pd.add (%u_grad, %[[P]])
// CHECK:     %[[Q:.*]] = pd.matmul (%b, %p_grad) {transpose_x = true
// CHECK:     %w_grad_1 = pd.add (%w_grad, %[[Q]])
// CHECK:     cf.yield (%b_grad_1, %w_grad_1, %u_grad_1)

// GRAPH-NOT: cf.join_stack
// GRAPH:     %u_grad_2 = pd.add (%u_grad_1,

// PADDLE-NOT: join_stack
// PADDLE:     "u_grad"
