// x where it is positive, its square where not.
%x = pd.data {name = "x", shape = [], dtype = f64}
%zero = pd.full {shape = [], value = 0.0, dtype = f64}
%positive = pd.greater_than (%x, %zero)
%y = pd.if (%positive) then {
  cf.yield (%x)
} else {
  %square = pd.multiply (%x, %x)
  cf.yield (%square)
} : tensor<f64>
pd.fetch (%y) {name = "y"}
