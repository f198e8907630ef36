// Three errors, each with an edit.
%x = pd.data {name = "x", shape = [4], dtype = f32} : tensor<4xf32>
%y = pd.tahn (%x) : tensor<4xf32>
%z = pd.full {shpae = [4], value = 1.0, dtype = f32} : tensor<4xf32>
%w = pd.multiply (%x, %z) : tensor<5xf32>
pd.fetch (%w) {name = "w"}
