// x + z if x < y, else the square of y
%x = pd.data {name = "x", shape = [], dtype = f32} : tensor<f32>
%y = pd.data {name = "y", shape = [], dtype = f32} : tensor<f32>
%z = pd.data {name = "z", shape = [], dtype = f32} : tensor<f32>
%c = pd.less_than (%x, %y) : tensor<i1>
%r = pd.if (%c) then {
  %sum = pd.add (%x, %z) : tensor<f32>
  cf.yield (%sum)
} else {
  %square = pd.square (%y) : tensor<f32>
  cf.yield (%square)
} : tensor<f32>
pd.fetch (%r) {name = "r"}
