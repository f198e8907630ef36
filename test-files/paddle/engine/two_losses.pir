// RUN: pir-opt %s --pass='backward{of="first"},backward{of="second"}' --emit=paddle-json | pir-run - --input x=[0.3,0.7] | FileCheck %s
// PaddlePaddle refuses to differentiate one loop twice.
// PASS: backward{of="first"},backward{of="second"}
// CHECK: x_grad = tensor<2xf32> [0.2554634, 0.94090015]
// CHECK: x_grad_2 = tensor<2xf32> [0.0032125416, 0.110371694]
%x = pd.data {name = "x", shape = [2], dtype = f32} : tensor<2xf32>
%zero = pd.full {shape = [1], value = 0, dtype = i64} : tensor<1xi64>
%n = pd.full {shape = [1], value = 3, dtype = i64} : tensor<1xi64>
%y0 = pd.full {shape = [2], value = 1.0, dtype = f32} : tensor<2xf32>
%z0 = pd.full {shape = [2], value = 0.5, dtype = f32} : tensor<2xf32>
%ie, %y, %z = pd.while (%zero, %y0, %z0) cond (%i: tensor<1xi64>, %a: tensor<2xf32>, %c: tensor<2xf32>) {
  %go = pd.less_than (%i, %n) : tensor<1xi1>
  cf.cond_yield (%go, %i, %a, %c)
} body (%i2: tensor<1xi64>, %a2: tensor<2xf32>, %c2: tensor<2xf32>) {
  %b = pd.multiply (%a2, %x) : tensor<2xf32>
  %t = pd.tanh (%b) : tensor<2xf32>
  %d = pd.multiply (%c2, %t) : tensor<2xf32>
  %j = pd.scale (%i2) {bias = 1.0} : tensor<1xi64>
  cf.yield (%j, %t, %d)
} : tensor<1xi64>, tensor<2xf32>, tensor<2xf32>
%l1 = pd.sum (%y) : tensor<f32>
%l2 = pd.mean (%z) : tensor<f32>
pd.fetch (%l1) {name = "first"}
pd.fetch (%l2) {name = "second"}
