// RUN: pir-opt --pass=backward %s | pir-run - --input 'x=[0.1,0.2,-0.7]' --input s=1.5 | FileCheck %s
// A factor that is an operand has a derivative: the sum of what is scaled.
%x = pd.data {name = "x", shape = [3], dtype = f64}
%s = pd.data {name = "s", shape = [], dtype = f64}
%y = pd.scale (%x, %s)
pd.fetch (%y) {name = "y"}
// CHECK: x_grad = tensor<3xf64> [1.5, 1.5, 1.5]
// CHECK: s_grad = tensor<f64> -0.39999
