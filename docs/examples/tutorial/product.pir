// y = 1.0; ten times: y = y * x.
%x = pd.data {name = "x", shape = [4], dtype = f64}
%zero = pd.full {shape = [], value = 0, dtype = i64}
%ten = pd.full {shape = [], value = 10, dtype = i64}
%start = pd.full {shape = [4], value = 1.0, dtype = f64}
%n, %y = pd.while (%zero, %start) cond (%i: tensor<i64>, %a: tensor<4xf64>) {
  %go = pd.less_than (%i, %ten)
  cf.cond_yield (%go, %i, %a)
} body (%i: tensor<i64>, %a: tensor<4xf64>) {
  %b = pd.multiply (%a, %x)
  %j = pd.increment (%i)
  cf.yield (%j, %b)
} : tensor<i64>, tensor<4xf64>
pd.fetch (%y) {name = "y"}
