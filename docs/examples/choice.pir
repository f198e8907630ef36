// y = tanh(x·x) or 3x
%x = pd.data {name = "x", shape = [2], dtype = f32} : tensor<2xf32>
%limit = pd.full {shape = [], value = 1.0, dtype = f32} : tensor<f32>
%sum = pd.sum (%x) : tensor<f32>
%small = pd.less_than (%sum, %limit) : tensor<i1>
%y = pd.if (%small) then {
  %q = pd.multiply (%x, %x) : tensor<2xf32>
  %t = pd.tanh (%q) : tensor<2xf32>
  cf.yield (%t)
} else {
  %k = pd.scale (%x) {scale = 3.0} : tensor<2xf32>
  cf.yield (%k)
} : tensor<2xf32>
pd.fetch (%y) {name = "y"}
