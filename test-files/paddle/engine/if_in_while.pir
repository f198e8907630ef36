// RUN: pir-opt %s --pass=backward --emit=paddle-json | pir-run - --input x=ones | FileCheck %s
// PaddlePaddle gives a wrong gradient of a branch in a loop.
// CHECK: x_grad
%x = pd.data {name = "x", shape = [4], dtype = f32} : tensor<4xf32>
%zero = pd.full {shape = [1], value = 0, dtype = i64} : tensor<1xi64>
%two = pd.full {shape = [1], value = 2, dtype = i64} : tensor<1xi64>
%n = pd.full {shape = [1], value = 5, dtype = i64} : tensor<1xi64>
%y0 = pd.full {shape = [4], value = 0.5, dtype = f32} : tensor<4xf32>
%i, %y = pd.while (%zero, %y0) cond (%i: tensor<1xi64>, %y: tensor<4xf32>) {
  %go = pd.less_than (%i, %n) : tensor<1xi1>
  cf.cond_yield (%go, %i, %y)
} body (%i: tensor<1xi64>, %y: tensor<4xf32>) {
  %r = pd.remainder (%i, %two) : tensor<1xi64>
  %even = pd.equal (%r, %zero) : tensor<1xi1>
  %z = pd.if (%even) then {
    %p = pd.multiply (%y, %x) : tensor<4xf32>
    %q = pd.tanh (%p) : tensor<4xf32>
    cf.yield (%q)
  } else {
    %s = pd.sin (%y) : tensor<4xf32>
    %t = pd.add (%s, %x) : tensor<4xf32>
    cf.yield (%t)
  } : tensor<4xf32>
  %j = pd.scale (%i) {bias = 1.0} : tensor<1xi64>
  cf.yield (%j, %z)
} : tensor<1xi64>, tensor<4xf32>
%loss = pd.sum (%y) : tensor<f32>
pd.fetch (%loss) {name = "loss"}
