// RUN: pir-opt --pass=backward %s | FileCheck %s
// RUN: pir-run --check-grad %s --input 'xs=[[0.1, 0.2], [0.3, -0.4], [0.5, 0.6], [0.7, 0.8]]' --input 'h=[[1.0, -0.5]]' | FileCheck %s --check-prefix=GRAD
// RUN: pir-opt --pass=backward %s | pir-run --check-grad - --input 'xs=[[0.1, 0.2], [0.3, -0.4], [0.5, 0.6], [0.7, 0.8]]' --input 'h=[[1.0, -0.5]]' | FileCheck %s --check-prefix=GRAD
// GRAD: xs {{.*}} ok
// Each iteration reads rows of a tensor from outside, and adds its cotangents to those rows of the sum, not a whole tensor of
// zeros with these rows; what is put in a row is taken out of one.
// CHECK: pd.while_grad
// CHECK-NOT: _grad (
// CHECK: pd.index_add (%xs_grad{{.*}}) {axis = 0} : tensor<4x2xf64>
// CHECK-NOT: pd.slice_grad
// CHECK-NOT: pd.gather_grad

%xs = pd.data {name = "xs", shape = [4, 2], dtype = f64}
%h0 = pd.data {name = "h", shape = [1, 2], dtype = f64}
%ys0 = pd.full {shape = [4, 2], value = 0.5, dtype = f64}
%zero = pd.full {shape = [1], value = 0, dtype = i64}
%one = pd.full {shape = [1], value = 1, dtype = i64}
%n = pd.full {shape = [1], value = 4, dtype = i64}
%ie, %he, %ys = pd.while (%zero, %h0, %ys0) cond (%i, %a, %y) {
  %go = pd.less_than (%i, %n)
  cf.cond_yield (%go, %i, %a, %y)
} body (%j, %b, %y) {
  %x = pd.gather (%xs, %j) {axis = 0}
  %k = pd.add (%j, %one)
  %m = pd.multiply (%b, %x)
  %t = pd.tanh (%m)
  %z = pd.slice (%xs, %j, %k) {axes = [0]} : tensor<1x2xf64>
  %back = pd.subtract (%j, %n)
  %w = pd.slice (%xs, %back, %k) {axes = [0], decrease_axis = [0]} : tensor<2xf64>
  %w2 = pd.slice (%xs) {axes = [1], starts = [-1], ends = [9]} : tensor<4x1xf64>
  %w3 = pd.sum (%w2)
  %zz = pd.multiply (%z, %w)
  %zzz = pd.multiply (%zz, %w3)
  %s = pd.add (%t, %zzz)
  %y2 = pd.scatter (%y, %j, %s) {overwrite = true}
  cf.yield (%k, %s, %y2)
}
%sq = pd.multiply (%ys, %ys)
%l = pd.sum (%sq)
%l2 = pd.sum (%he)
%loss = pd.multiply (%l, %l2)
pd.fetch (%loss) {name = "loss"}
