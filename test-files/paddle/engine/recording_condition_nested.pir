// RUN: pir-opt %s --pass='backward,backward{of="x_grad"}' --emit=paddle-json | pir-run - --input x=[0.3,0.7] | FileCheck %s
// The same inside another loop, twice.
// PASS: backward,backward{of="x_grad"}
// CHECK: x_grad = tensor<2xf32> [14.06174{{[0-9]+}}, 3.6936{{[0-9]+}}]
// CHECK: x_grad_2 = tensor<2xf32> [-66.585{{[0-9]+}}, -7.7530{{[0-9]+}}]
%x = pd.data {name = "x", shape = [2], dtype = f32} : tensor<2xf32>
%n = pd.full {shape = [1], value = 3, dtype = i64} : tensor<1xi64>
%zero = pd.full {shape = [1], value = 0, dtype = i64} : tensor<1xi64>
%zero2 = pd.full {shape = [1], value = 0, dtype = i64} : tensor<1xi64>
%oe, %oa = pd.while (%zero2, %x) cond (%oi: tensor<1xi64>, %oy: tensor<2xf32>) {
  %ogo = pd.less_than (%oi, %n) : tensor<1xi1>
  cf.cond_yield (%ogo, %oi, %oy)
} body (%oi2: tensor<1xi64>, %oy2: tensor<2xf32>) {
%ie, %a = pd.while (%zero, %oy2) cond (%i: tensor<1xi64>, %y: tensor<2xf32>) {
  %go = pd.less_than (%i, %oi2) : tensor<1xi1>
  %w = pd.tanh (%y) : tensor<2xf32>
  %u = pd.multiply (%w, %w) : tensor<2xf32>
  %v = pd.add (%u, %y) : tensor<2xf32>
  cf.cond_yield (%go, %i, %v)
} body (%i2: tensor<1xi64>, %y2: tensor<2xf32>) {
  %j = pd.scale (%i2) {bias = 1.0} : tensor<1xi64>
  cf.yield (%j, %y2)
} : tensor<1xi64>, tensor<2xf32>
  %oj = pd.scale (%oi2) {bias = 1.0} : tensor<1xi64>
  cf.yield (%oj, %a)
} : tensor<1xi64>, tensor<2xf32>
pd.fetch (%oa) {name = "a"}
