// A step of gradient descent.
%w = pd.data {name = "w", shape = [2, 3], dtype = f64} : tensor<2x3xf64>
%g = pd.data {name = "w_grad", shape = [2, 3], dtype = f64} : tensor<2x3xf64>
%d = pd.scale (%g) {scale = 0.2} : tensor<2x3xf64>
%next = pd.subtract (%w, %d) : tensor<2x3xf64>
pd.fetch (%next) {name = "w"}
