// x is scaled in each iteration, by the same factor.
%x = pd.data {name = "x", shape = [4], dtype = f64}
%w = pd.data {name = "w", shape = [4], dtype = f64}
%zero = pd.full {shape = [], value = 0, dtype = i64}
%ten = pd.full {shape = [], value = 10, dtype = i64}
%n, %y = pd.while (%zero, %x) cond (%i: tensor<i64>, %a: tensor<4xf64>) {
  %go = pd.less_than (%i, %ten)
  cf.cond_yield (%go, %i, %a)
} body (%i: tensor<i64>, %a: tensor<4xf64>) {
  %factor = pd.tanh (%w)
  %b = pd.multiply (%a, %factor)
  %j = pd.increment (%i)
  cf.yield (%j, %b)
} : tensor<i64>, tensor<4xf64>
pd.fetch (%y) {name = "y"}
