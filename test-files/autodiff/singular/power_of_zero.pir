// RUN: pir-opt --pass=backward %s | pir-run - --input 'x=[0,0,0,1,2,0]' --input 'a=[2,1,0,0,0,3]' | FileCheck %s
// RUN: pir-run --eager-grad %s --input 'x=[0,0,0,1,2,0]' --input 'a=[2,1,0,0,0,3]' | FileCheck %s
%x = pd.data {name = "x", shape = [6], dtype = f64}
%a = pd.data {name = "a", shape = [6], dtype = f64}
%y = pd.elementwise_pow (%x, %a)
pd.fetch (%y) {name = "y"}
// CHECK: x_grad = tensor<6xf64> [0, 1, 0, 0, 0, 0]
// CHECK: a_grad = tensor<6xf64> [0, 0, 0, 0, 0.693147{{[0-9]+}}, 0]
