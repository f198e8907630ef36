// The square root of a: y = (y + a / y) / 2, until y changes by less than the tolerance.
%a = pd.data {name = "a", shape = [], dtype = f64}
%tolerance = pd.data {name = "tolerance", shape = [], dtype = f64, stop_gradient = true}
%half = pd.full {shape = [], value = 0.5, dtype = f64}
%far = pd.full {shape = [], value = 1e300, dtype = f64}
%change, %root = pd.while (%far, %a) cond (%d: tensor<f64>, %y: tensor<f64>) {
  %go = pd.greater_than (%d, %tolerance)
  cf.cond_yield (%go, %d, %y)
} body (%d: tensor<f64>, %y: tensor<f64>) {
  %q = pd.divide (%a, %y)
  %s = pd.add (%y, %q)
  %next = pd.multiply (%s, %half)
  %step = pd.subtract (%next, %y)
  %size = pd.abs (%step)
  cf.yield (%size, %next)
} : tensor<f64>, tensor<f64>
pd.fetch (%root) {name = "root"}
