// RUN: pir-opt %s --pass='backward,backward{of="x_grad"}' --emit=paddle-json | pir-run - --input x=ones | FileCheck %s
// PaddlePaddle refuses a second derivative of a loop.
// PASS: backward{of="y"},backward{of="x_grad"},canonicalize,dce
// CHECK: x_grad
%x = pd.data {name = "x", shape = [2], dtype = f32} : tensor<2xf32>
%zero = pd.full {shape = [1], value = 0, dtype = i64} : tensor<1xi64>
%n = pd.full {shape = [1], value = 3, dtype = i64} : tensor<1xi64>
%y0 = pd.full {shape = [2], value = 1.0, dtype = f32} : tensor<2xf32>
%i, %y = pd.while (%zero, %y0) cond (%i: tensor<1xi64>, %a: tensor<2xf32>) {
  %go = pd.less_than (%i, %n) : tensor<1xi1>
  cf.cond_yield (%go, %i, %a)
} body (%i: tensor<1xi64>, %a: tensor<2xf32>) {
  %b = pd.multiply (%a, %x) : tensor<2xf32>
  %j = pd.scale (%i) {bias = 1.0} : tensor<1xi64>
  cf.yield (%j, %b)
} : tensor<1xi64>, tensor<2xf32>
pd.fetch (%y) {name = "y"}
