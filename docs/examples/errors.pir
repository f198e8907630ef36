%x = pd.data {name = "x", shape = [4], dtype = f32} : tensor<4xf32>
%y = pd.tahn (%x) : tensor<4xf32>
%c = pd.full {shape = [], value = true, dtype = i1} : tensor<i1>
%r = pd.if (%c) then {
  %z = pd.exp (%x) : tensor<4xf32>
  cf.yield (%z)
} else {
  cf.yield (%x, %x)
} : tensor<4xf32>
pd.fetch (%z) {name = "z"}
