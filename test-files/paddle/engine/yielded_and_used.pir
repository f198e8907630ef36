// RUN: pir-opt %s --pass=backward --emit=paddle-json | pir-run - --input x=ones --input w=ones | FileCheck %s
// Of a value that the body yields and uses, PaddlePaddle keeps one gradient.
// CHECK: x_grad
%x = pd.data {name = "x", shape = [2, 3], dtype = f32} : tensor<2x3xf32>
%w = pd.data {name = "w", shape = [3, 3], dtype = f32} : tensor<3x3xf32>
%zero = pd.full {shape = [1], value = 0, dtype = i64} : tensor<1xi64>
%n = pd.full {shape = [1], value = 4, dtype = i64} : tensor<1xi64>
%h0 = pd.full {shape = [2, 3], value = 0.1, dtype = f32} : tensor<2x3xf32>
%i, %h, %c = pd.while (%zero, %h0, %x) cond (%i: tensor<1xi64>, %h: tensor<2x3xf32>, %c: tensor<2x3xf32>) {
  %go = pd.less_than (%i, %n) : tensor<1xi1>
  cf.cond_yield (%go, %i, %h, %c)
} body (%i: tensor<1xi64>, %h: tensor<2x3xf32>, %c: tensor<2x3xf32>) {
  %hw = pd.matmul (%h, %w) : tensor<2x3xf32>
  %a = pd.add (%hw, %x) : tensor<2x3xf32>
  %f = pd.sigmoid (%a) : tensor<2x3xf32>
  %g = pd.tanh (%a) : tensor<2x3xf32>
  %fc = pd.multiply (%f, %c) : tensor<2x3xf32>
  %c1 = pd.add (%fc, %g) : tensor<2x3xf32>
  %t = pd.tanh (%c1) : tensor<2x3xf32>
  %h1 = pd.multiply (%f, %t) : tensor<2x3xf32>
  %j = pd.scale (%i) {bias = 1.0} : tensor<1xi64>
  cf.yield (%j, %h1, %c1)
} : tensor<1xi64>, tensor<2x3xf32>, tensor<2x3xf32>
%y = pd.multiply (%h, %c) : tensor<2x3xf32>
%loss = pd.mean (%y) : tensor<f32>
pd.fetch (%loss) {name = "loss"}
