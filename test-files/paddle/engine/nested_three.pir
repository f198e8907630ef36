// RUN: pir-opt %s --pass=backward --emit=paddle-json | pir-run - --input x=ones | FileCheck %s
// The derivative of a loop in a loop does not run there; here there are three, the inner ones of changing length.
// CHECK: x_grad
%x = pd.data {name = "x", shape = [3], dtype = f32} : tensor<3xf32>
%zero = pd.full {shape = [1], value = 0, dtype = i64} : tensor<1xi64>
%n = pd.full {shape = [1], value = 3, dtype = i64} : tensor<1xi64>
%y0 = pd.full {shape = [3], value = 0.5, dtype = f32} : tensor<3xf32>
%i, %y = pd.while (%zero, %y0) cond (%i: tensor<1xi64>, %a: tensor<3xf32>) {
  %go = pd.less_than (%i, %n) : tensor<1xi1>
  cf.cond_yield (%go, %i, %a)
} body (%i: tensor<1xi64>, %a: tensor<3xf32>) {
  %j, %b = pd.while (%zero, %a) cond (%j: tensor<1xi64>, %b: tensor<3xf32>) {
    %go = pd.less_than (%j, %i) : tensor<1xi1>
    cf.cond_yield (%go, %j, %b)
  } body (%j: tensor<1xi64>, %b: tensor<3xf32>) {
    %k, %c = pd.while (%j, %b) cond (%k: tensor<1xi64>, %c: tensor<3xf32>) {
      %go = pd.less_than (%k, %n) : tensor<1xi1>
      cf.cond_yield (%go, %k, %c)
    } body (%k: tensor<1xi64>, %c: tensor<3xf32>) {
      %p = pd.multiply (%c, %x) : tensor<3xf32>
      %s = pd.sin (%p) : tensor<3xf32>
      %l = pd.scale (%k) {bias = 1.0} : tensor<1xi64>
      cf.yield (%l, %s)
    } : tensor<1xi64>, tensor<3xf32>
    %t = pd.tanh (%c) : tensor<3xf32>
    %m = pd.scale (%j) {bias = 1.0} : tensor<1xi64>
    cf.yield (%m, %t)
  } : tensor<1xi64>, tensor<3xf32>
  %u = pd.add (%b, %x) : tensor<3xf32>
  %o = pd.scale (%i) {bias = 1.0} : tensor<1xi64>
  cf.yield (%o, %u)
} : tensor<1xi64>, tensor<3xf32>
%loss = pd.sum (%y) : tensor<f32>
pd.fetch (%loss) {name = "loss"}
