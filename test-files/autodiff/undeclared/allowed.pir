// RUN: pir-opt --pass=backward %s | FileCheck %s
// What ends a path by its declaration: a detached value, an index, and what no output depends on.
%x = pd.data {name = "x", shape = [2], dtype = f32} : tensor<2xf32>
%d = pd.detach (%x) : tensor<2xf32>
%h = builtin.unrealized_conversion_cast (%d) : tensor<2xf32>
%i = builtin.unrealized_conversion_cast (%x) : tensor<2xi64>
%t = pd.gather (%x, %i) {axis = 0} : tensor<2xf32>
%y = pd.multiply (%h, %t) : tensor<2xf32>
pd.fetch (%y) {name = "y"}
// CHECK:      %t_grad = pd.multiply (%y_grad, %h)
// CHECK-NEXT: %x_grad = pd.gather_grad (%i, %t_grad)
// CHECK-NEXT: pd.fetch (%x_grad)
