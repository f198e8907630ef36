// RUN: pir-opt --pass=backward %s | pir-run - --input 'x=[1,2,3]' --input 's=[2]' --input 'b=[10]' | FileCheck %s
// The offset comes first: 2 * (x + 10). Both have one element in a vector, and one is of another type.
%x = pd.data {name = "x", shape = [3], dtype = f64}
%s = pd.data {name = "s", shape = [1], dtype = f32}
%b = pd.data {name = "b", shape = [1], dtype = f64}
%y = pd.scale (%x, %s, %b) {bias_after_scale = false}
pd.fetch (%y) {name = "y"}
// CHECK: y = tensor<3xf64> [22, 24, 26]
// CHECK: x_grad = tensor<3xf64> [2, 2, 2]
// CHECK: s_grad = tensor<1xf32> [36]
// CHECK: b_grad = tensor<1xf64> [6]
