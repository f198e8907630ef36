// RUN: pir-opt --pass=backward %s | pir-run - --input x=[1.0,2.0,3.0] --input n=2 | FileCheck %s
// What is gathered in a loop, and sliced, adds to a sum that is there: both are cotangents that were found.

%x = pd.data {name = "x", shape = [3], dtype = f64} : tensor<3xf64>
%n = pd.data {name = "n", shape = [], dtype = i64} : tensor<i64>
%zero = pd.full {shape = [], value = 0, dtype = i64} : tensor<i64>
%start = pd.full {shape = [2], value = 0.0, dtype = f64} : tensor<2xf64>
%count, %total = pd.while (%zero, %start) cond (%i: tensor<i64>, %t: tensor<2xf64>) {
  %more = pd.less_than (%i, %n) : tensor<i1>
  cf.cond_yield (%more, %i, %t)
} body (%i: tensor<i64>, %t: tensor<2xf64>) {
  %index = pd.full {shape = [2], value = 1, dtype = i64} : tensor<2xi64>
  %rows = pd.gather (%x, %index) {axis = 0} : tensor<2xf64>
  %part = pd.slice (%x) {axes = [0], starts = [1], ends = [3]} : tensor<2xf64>
  %product = pd.multiply (%rows, %part) : tensor<2xf64>
  %next = pd.add (%t, %product) : tensor<2xf64>
  %j = pd.increment (%i) {value = 1.0} : tensor<i64>
  cf.yield (%j, %next)
} : tensor<i64>, tensor<2xf64>
%loss = pd.sum (%total) : tensor<f64>
pd.fetch (%loss) {name = "loss"}

// CHECK: loss = tensor<f64> 20
// CHECK: x_grad = tensor<3xf64> [0, 14, 4]
