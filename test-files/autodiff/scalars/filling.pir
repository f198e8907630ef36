// RUN: pir-opt --pass=backward %s | pir-run - --input 'x=[0.1,0.2,-0.7]' --input s=1.5 | FileCheck %s
// Every element is the value.
%x = pd.data {name = "x", shape = [3], dtype = f64}
%s = pd.data {name = "s", shape = [], dtype = f64}
%z = pd.full_like (%x, %s) {dtype = f64}
%y = pd.multiply (%z, %x)
%w = pd.full (%s) {shape = [4], dtype = f64}
pd.fetch (%y) {name = "y"}
pd.fetch (%w) {name = "w"}
// CHECK: w = tensor<4xf64> [1.5, 1.5, 1.5, 1.5]
// CHECK: x_grad = tensor<3xf64> [1.5, 1.5, 1.5]
// CHECK: s_grad = tensor<f64> 3.6
