// RUN: pir-opt --pass=backward %s | pir-run - --input 'x=[0.1,0.2,0.9]' --input s=0.5 | FileCheck %s
// What is cut off depends on the bound alone.
%x = pd.data {name = "x", shape = [3], dtype = f64}
%s = pd.data {name = "s", shape = [], dtype = f64}
%m = pd.full {shape = [], value = -9.0, dtype = f64}
%y = pd.clip (%x, %m, %s)
pd.fetch (%y) {name = "y"}
// CHECK: x_grad = tensor<3xf64> [1, 1, 0]
// CHECK: s_grad = tensor<f64> 1
