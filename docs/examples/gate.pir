// h = h + z·(tanh(p) - h) with p = h·w and z = sigmoid(p), n times
%h0 = pd.data {name = "h", shape = [1, 4], dtype = f32} : tensor<1x4xf32>
%w = pd.data {name = "w", shape = [4, 4], dtype = f32} : tensor<4x4xf32>
%n = pd.data {name = "n", shape = [], dtype = i64} : tensor<i64>
%zero = pd.full {shape = [], value = 0, dtype = i64} : tensor<i64>
%one = pd.full {shape = [], value = 1, dtype = i64} : tensor<i64>
%steps, %h = pd.while (%zero, %h0) cond (%i, %a) {
  %go = pd.less_than (%i, %n)
  cf.cond_yield (%go, %i, %a)
} body (%i, %b) {
  %p = pd.matmul (%b, %w)
  %z = pd.sigmoid (%p)
  %t = pd.tanh (%p)
  %d = pd.subtract (%t, %b)
  %e = pd.multiply (%z, %d)
  %s = pd.add (%b, %e)
  %next = pd.add (%i, %one)
  cf.yield (%next, %s)
}
%loss = pd.sum (%h)
pd.fetch (%loss) {name = "loss"}
