// y = 2y + x, n times: the derivative reads nothing of the loop but its length
%x = pd.data {name = "x", shape = [2], dtype = f32} : tensor<2xf32>
%n = pd.data {name = "n", shape = [], dtype = i64} : tensor<i64>
%zero = pd.full {shape = [], value = 0, dtype = i64} : tensor<i64>
%one = pd.full {shape = [], value = 1, dtype = i64} : tensor<i64>
%steps, %y = pd.while (%zero, %x) cond (%i: tensor<i64>, %a: tensor<2xf32>) {
  %go = pd.less_than (%i, %n) : tensor<i1>
  cf.cond_yield (%go, %i, %a)
} body (%j: tensor<i64>, %b: tensor<2xf32>) {
  %d = pd.scale (%b) {scale = 2.0} : tensor<2xf32>
  %s = pd.add (%d, %x) : tensor<2xf32>
  %next = pd.add (%j, %one) : tensor<i64>
  cf.yield (%next, %s)
} : tensor<i64>, tensor<2xf32>
pd.fetch (%y) {name = "y"}
