// h = tanh(h·w + x), n times
%x = pd.data {name = "x", shape = [2, 3], dtype = f32} : tensor<2x3xf32>
%w = pd.data {name = "w", shape = [3, 3], dtype = f32} : tensor<3x3xf32>
%zero = pd.full {shape = [], value = 0, dtype = i64} : tensor<i64>
%one = pd.full {shape = [], value = 1, dtype = i64} : tensor<i64>
%n = pd.full {shape = [], value = 4, dtype = i64} : tensor<i64>
%steps, %h = pd.while (%zero, %x) cond (%i: tensor<i64>, %a: tensor<2x3xf32>) {
  %go = pd.less_than (%i, %n) : tensor<i1>
  cf.cond_yield (%go, %i, %a)
} body (%j: tensor<i64>, %b: tensor<2x3xf32>) {
  %p = pd.matmul (%b, %w) : tensor<2x3xf32>
  %s = pd.add (%p, %x) : tensor<2x3xf32>
  %t = pd.tanh (%s) : tensor<2x3xf32>
  %next = pd.add (%j, %one) : tensor<i64>
  cf.yield (%next, %t)
} : tensor<i64>, tensor<2x3xf32>
%loss = pd.sum (%h) : tensor<f32>
pd.fetch (%loss) {name = "loss"}
