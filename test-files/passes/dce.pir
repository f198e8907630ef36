// RUN: pir-opt --pass=dce %s | FileCheck %s

// A carried value that only feeds itself goes, with what computes it; an effect keeps its loop.

%n = pd.data {name = "n", shape = [1], dtype = i64} : tensor<1xi64>
%x = pd.data {name = "x", shape = [4], dtype = f64} : tensor<4xf64>
%i_end, %d, %y = pd.while (%n, %x, %x) cond (%i: tensor<1xi64>, %dead: tensor<4xf64>, %a: tensor<4xf64>) {
  %go = pd.less_than (%i, %n) : tensor<1xi1>
  cf.cond_yield (%go, %i, %dead, %a)
} body (%i_b: tensor<1xi64>, %dead_b: tensor<4xf64>, %a_b: tensor<4xf64>) {
  %t = pd.tanh (%dead_b) : tensor<4xf64>
  %i_next = pd.increment (%i_b) {value = 1.0} : tensor<1xi64>
  %b = pd.add (%a_b, %x) : tensor<4xf64>
  cf.yield (%i_next, %t, %b)
} : tensor<1xi64>, tensor<4xf64>, tensor<4xf64>
%unused = pd.exp (%y) : tensor<4xf64>
pd.fetch (%y) {name = "y"}

// CHECK:     %i_end, %y = pd.while (%n, %x) cond (%i: tensor<1xi64>, %a: tensor<4xf64>) {
// CHECK:     cf.cond_yield (%go, %i, %a)
// CHECK:     } body (%i_b: tensor<1xi64>, %a_b: tensor<4xf64>) {
// CHECK-NOT: pd.tanh
// CHECK:     cf.yield (%i_next, %b)
// CHECK:     } : tensor<1xi64>, tensor<4xf64>
// CHECK-NOT: pd.exp
// CHECK:     pd.fetch (%y)
