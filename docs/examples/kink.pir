// y = relu(x) + sqrt(2x + 1): at 0 there is no derivative
%x = pd.data {name = "x", shape = [3], dtype = f64} : tensor<3xf64>
%a = pd.relu (%x) : tensor<3xf64>
%b = pd.scale (%x) {scale = 2.0, bias = 1.0, bias_after_scale = true} : tensor<3xf64>
%c = pd.sqrt (%b) : tensor<3xf64>
%y = pd.add (%a, %c) : tensor<3xf64>
pd.fetch (%y) {name = "y"}
