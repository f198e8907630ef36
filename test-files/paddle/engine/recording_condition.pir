// RUN: pir-opt %s --pass='backward' --emit=paddle-json | pir-run - --input x=[0.3,0.7] | FileCheck %s
// Its condition records what it forwards.
// PASS: backward
// CHECK: x_grad = tensor<2xf32> [4.7572775, 0.0187339{{[0-9]*}}]
%x = pd.data {name = "x", shape = [2], dtype = f32} : tensor<2xf32>
%n = pd.full {shape = [1], value = 3, dtype = i64} : tensor<1xi64>
%zero = pd.full {shape = [1], value = 0, dtype = i64} : tensor<1xi64>
%ie, %a = pd.while (%zero, %x) cond (%i: tensor<1xi64>, %y: tensor<2xf32>) {
  %go = pd.less_than (%i, %n) : tensor<1xi1>
  %w = pd.tanh (%y) : tensor<2xf32>
  %u = pd.multiply (%w, %w) : tensor<2xf32>
  %v = pd.add (%u, %y) : tensor<2xf32>
  cf.cond_yield (%go, %i, %v)
} body (%i2: tensor<1xi64>, %y2: tensor<2xf32>) {
  %j = pd.scale (%i2) {bias = 1.0} : tensor<1xi64>
  %z = pd.sin (%y2) : tensor<2xf32>
  cf.yield (%j, %z)
} : tensor<1xi64>, tensor<2xf32>
pd.fetch (%a) {name = "a"}
