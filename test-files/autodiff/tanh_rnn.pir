// RUN: pir-opt --pass=backward %s | FileCheck %s
// A recurrent network: h = tanh(h·w + x). The derivative reads the state before and the state behind each step;
// that is recorded once, since the one is the other of the next step.
%n = pd.data {name = "n", shape = [1], dtype = i64} : tensor<1xi64>
%zero = pd.full {shape = [1], value = 0, dtype = i64} : tensor<1xi64>
%one = pd.full {shape = [1], value = 1, dtype = i64} : tensor<1xi64>
%x = pd.data {name = "x", shape = [2, 4], dtype = f64} : tensor<2x4xf64>
%w = pd.data {name = "w", shape = [4, 4], dtype = f64} : tensor<4x4xf64>
%h0 = pd.data {name = "h", shape = [2, 4], dtype = f64} : tensor<2x4xf64>
%i_end, %h_end = pd.while (%zero, %h0) cond (%i: tensor<1xi64>, %h: tensor<2x4xf64>) {
  %go = pd.less_than (%i, %n) : tensor<1xi1>
  cf.cond_yield (%go, %i, %h)
} body (%i_b: tensor<1xi64>, %h_b: tensor<2x4xf64>) {
  %p = pd.matmul (%h_b, %w) : tensor<2x4xf64>
  %s = pd.add (%p, %x) : tensor<2x4xf64>
  %t = pd.tanh (%s) : tensor<2x4xf64>
  %next = pd.add (%i_b, %one) : tensor<1xi64>
  cf.yield (%next, %t)
} : tensor<1xi64>, tensor<2x4xf64>
%sq = pd.square (%h_end) : tensor<2x4xf64>
%loss = pd.sum (%sq) : tensor<f64>
pd.fetch (%loss) {name = "loss"}
// CHECK: pd.while {{.*}} init
// CHECK: body
// CHECK: cf.push_back (%stack, %h_b)
// CHECK-NOT: cf.push_back
// CHECK: pd.while_grad
// CHECK-NOT: cf.pop_back
// CHECK: cf.is_empty
// CHECK: body
// CHECK: [[H:%h_b[_0-9]*]] = cf.pop_back
// CHECK-NOT: cf.pop_back
// CHECK: pd.tanh_grad (%t
// CHECK-COUNT-2: pd.matmul
// CHECK-NOT: pd.matmul
// CHECK: cf.yield ({{.*}}, [[H]])
// CHECK-DAG: pd.fetch {{.*}} {name = "x_grad"}
// CHECK-DAG: pd.fetch {{.*}} {name = "w_grad"}
// CHECK-DAG: pd.fetch {{.*}} {name = "h_grad"}
