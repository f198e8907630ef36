// y = 1; three times: y = y * x
%x = pd.data {name = "x", shape = [2], dtype = f64} : tensor<2xf64>
%zero = pd.full {shape = [1], value = 0, dtype = i64} : tensor<1xi64>
%one = pd.full {shape = [1], value = 1, dtype = i64} : tensor<1xi64>
%three = pd.full {shape = [1], value = 3, dtype = i64} : tensor<1xi64>
%start = pd.full {shape = [2], value = 1.0, dtype = f64} : tensor<2xf64>
%n, %y = pd.while (%zero, %start) cond (%i: tensor<1xi64>, %a: tensor<2xf64>) {
  %go = pd.less_than (%i, %three) : tensor<1xi1>
  cf.cond_yield (%go, %i, %a)
} body (%j: tensor<1xi64>, %b: tensor<2xf64>) {
  %next = pd.add (%j, %one) : tensor<1xi64>
  %c = pd.multiply (%b, %x) : tensor<2xf64>
  cf.yield (%next, %c)
} : tensor<1xi64>, tensor<2xf64>
pd.fetch (%y) {name = "y"}
