// RUN: pir-opt %s --pass=backward --emit=paddle-json | pir-run - --input x=ones | FileCheck %s
// A derivative that reads nothing of the way there aborts PaddlePaddle.
// CHECK: x_grad
%x = pd.data {name = "x", shape = [4], dtype = f32} : tensor<4xf32>
%zero = pd.full {shape = [1], value = 0, dtype = i64} : tensor<1xi64>
%n = pd.full {shape = [1], value = 3, dtype = i64} : tensor<1xi64>
%i, %y = pd.while (%zero, %x) cond (%i: tensor<1xi64>, %a: tensor<4xf32>) {
  %go = pd.less_than (%i, %n) : tensor<1xi1>
  cf.cond_yield (%go, %i, %a)
} body (%i: tensor<1xi64>, %a: tensor<4xf32>) {
  %b = pd.flip (%a) {axis = [0]} : tensor<4xf32>
  %c = pd.assign (%b) : tensor<4xf32>
  %j = pd.scale (%i) {bias = 1.0} : tensor<1xi64>
  cf.yield (%j, %c)
} : tensor<1xi64>, tensor<4xf32>
%z = pd.multiply (%y, %x) : tensor<4xf32>
%loss = pd.sum (%z) : tensor<f32>
pd.fetch (%loss) {name = "loss"}
