// The product is made on another device than the sum.
%x = pd.data {name = "x", shape = [2], dtype = f64} : tensor<2xf64>
%n = pd.data {name = "n", shape = [], dtype = i64} : tensor<i64>
%zero = pd.full {shape = [], value = 0, dtype = i64} : tensor<i64>
%i_end, %y = pd.while (%zero, %x) cond (%i: tensor<i64>, %a: tensor<2xf64>) {
  %go = pd.less_than (%i, %n) {device = 0} : tensor<i1>
  cf.cond_yield (%go, %i, %a)
} body (%i_b: tensor<i64>, %a_b: tensor<2xf64>) {
  %next = pd.increment (%i_b) {value = 1.0, device = 0} : tensor<i64>
  %b = pd.multiply (%a_b, %a_b) {device = 1} : tensor<2xf64>
  cf.yield (%next, %b)
} : tensor<i64>, tensor<2xf64>
pd.fetch (%y) {name = "y", device = 1}
