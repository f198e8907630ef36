// The squared error of a layer whose weights are rounded to a grid.
%w = pd.data {name = "w", shape = [2, 3], dtype = f64} : tensor<2x3xf64>
%x = pd.data {name = "x", shape = [3, 8], dtype = f64} : tensor<3x8xf64>
%goal = pd.data {name = "goal", shape = [2, 3], dtype = f64} : tensor<2x3xf64>
%wanted = pd.matmul (%goal, %x) : tensor<2x8xf64>
%q = quant.round (%w) {step = 0.25} : tensor<2x3xf64>
%y = pd.matmul (%q, %x) : tensor<2x8xf64>
%e = pd.subtract (%y, %wanted) : tensor<2x8xf64>
%s = pd.multiply (%e, %e) : tensor<2x8xf64>
%loss = pd.mean (%s) : tensor<f64>
pd.fetch (%loss) {name = "loss"}
