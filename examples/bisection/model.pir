// A few steps of x ← tanh(log(exp(x)) + √(x²)) − 1.
%x = pd.data {name = "x", shape = [4], dtype = f64} : tensor<4xf64>
%zero = pd.full {shape = [], value = 0, dtype = i64} : tensor<i64>
%one = pd.full {shape = [], value = 1, dtype = i64} : tensor<i64>
%n = pd.full {shape = [], value = 3, dtype = i64} : tensor<i64>
%i_end, %y = pd.while (%zero, %x) cond (%i: tensor<i64>, %a: tensor<4xf64>) {
  %go = pd.less_than (%i, %n) : tensor<i1>
  cf.cond_yield (%go, %i, %a)
} body (%j: tensor<i64>, %b: tensor<4xf64>) {
  %e = pd.exp (%b) : tensor<4xf64>
  %l = pd.log (%e) : tensor<4xf64>
  %q = pd.square (%b) : tensor<4xf64>
  %r = pd.sqrt (%q) : tensor<4xf64>
  %s = pd.add (%l, %r) : tensor<4xf64>
  %t = pd.tanh (%s) : tensor<4xf64>
  %u = pd.scale (%t) {bias = -1.0} : tensor<4xf64>
  %next = pd.add (%j, %one) : tensor<i64>
  cf.yield (%next, %u)
} : tensor<i64>, tensor<4xf64>
%sum = pd.sum (%y) : tensor<f64>
pd.fetch (%sum) {name = "sum"}
