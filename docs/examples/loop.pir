// y starts at 0.5 and is changed three times: y = tanh(y * x) where its sum is greater than 1, y = y + x otherwise.
%x = pd.data {name = "x", shape = [4], dtype = f64} : tensor<4xf64>
%zero = pd.full {shape = [1], value = 0, dtype = i64} : tensor<1xi64>
%one = pd.full {shape = [1], value = 1, dtype = i64} : tensor<1xi64>
%n = pd.full {shape = [1], value = 3, dtype = i64} : tensor<1xi64>
%y0 = pd.full {shape = [4], value = 0.5, dtype = f64} : tensor<4xf64>
%i_end, %y = pd.while (%zero, %y0) cond (%i: tensor<1xi64>, %a: tensor<4xf64>) {
  %go = pd.less_than (%i, %n) : tensor<1xi1>
  cf.cond_yield (%go, %i, %a)
} body (%i_b: tensor<1xi64>, %a_b: tensor<4xf64>) {
  %s = pd.sum (%a_b) : tensor<f64>
  %t = pd.full {shape = [], value = 1.0, dtype = f64} : tensor<f64>
  %big = pd.greater_than (%s, %t) : tensor<i1>
  %r = pd.if (%big) then {
    %p = pd.multiply (%a_b, %x) : tensor<4xf64>
    %q = pd.tanh (%p) : tensor<4xf64>
    cf.yield (%q)
  } else {
    %q2 = pd.add (%a_b, %x) : tensor<4xf64>
    cf.yield (%q2)
  } : tensor<4xf64>
  %i_next = pd.add (%i_b, %one) : tensor<1xi64>
  cf.yield (%i_next, %r)
} : tensor<1xi64>, tensor<4xf64>
%loss = pd.sum (%y) : tensor<f64>
pd.fetch (%loss) {name = "loss"}
