// RUN: pir-opt %s --pass=backward --emit=paddle-json | pir-run - --input x=ones | FileCheck %s
// A constant that an accumulator starts with has no gradient there, and one that is used behind a loop is freed by it.
// Nor can a NaN be saved.
// CHECK: x_grad
%x = pd.data {name = "x", shape = [4], dtype = f32} : tensor<4xf32>
%zero = pd.full {shape = [1], value = 0, dtype = i64} : tensor<1xi64>
%n = pd.full {shape = [1], value = 3, dtype = i64} : tensor<1xi64>
%start = pd.full {shape = [4], value = 0.0, dtype = f32} : tensor<4xf32>
%nan = pd.full {shape = [4], value = nan, dtype = f32} : tensor<4xf32>
%low = pd.full {shape = [4], value = -inf, dtype = f32} : tensor<4xf32>
%i, %sum, %copy = pd.while (%zero, %start, %start) cond (%i: tensor<1xi64>, %a: tensor<4xf32>, %b: tensor<4xf32>) {
  %go = pd.less_than (%i, %n) : tensor<1xi1>
  cf.cond_yield (%go, %i, %a, %b)
} body (%i: tensor<1xi64>, %a: tensor<4xf32>, %b: tensor<4xf32>) {
  %p = pd.multiply (%x, %x) : tensor<4xf32>
  %q = pd.add (%a, %p) : tensor<4xf32>
  %j = pd.scale (%i) {bias = 1.0} : tensor<1xi64>
  cf.yield (%j, %q, %a)
} : tensor<1xi64>, tensor<4xf32>, tensor<4xf32>
%m = pd.maximum (%sum, %low) : tensor<4xf32>
%d = pd.add (%m, %start) : tensor<4xf32>
%e = pd.add (%d, %copy) : tensor<4xf32>
%k = pd.add (%i, %zero) : tensor<1xi64>
%loss = pd.sum (%e) : tensor<f32>
pd.fetch (%k) {name = "k"}
pd.fetch (%loss) {name = "loss"}
pd.fetch (%nan) {name = "nan"}
