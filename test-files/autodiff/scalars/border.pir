// RUN: pir-opt --pass=backward %s | pir-run - --input 'x=[0.1,0.2,0.9]' --input s=0.6 | FileCheck %s
// The border of two elements: 2 cos(0.6).
%x = pd.data {name = "x", shape = [3], dtype = f64}
%s = pd.data {name = "s", shape = [], dtype = f64}
%z = pd.pad (%x, %s) {paddings = [1, 1]}
%y = pd.sin (%z)
pd.fetch (%y) {name = "y"}
// CHECK: s_grad = tensor<f64> 1.65067
