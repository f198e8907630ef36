// RUN: pir-run %s --input n=5 | FileCheck %s
// RUN: pir-opt --pass=pd-to-stablehlo %s | pir-run - --input n=5 | FileCheck %s
// RUN: pir-opt --pass=pd-to-stablehlo %s | FileCheck %s --check-prefix=TEXT
// CHECK: tensor<i64> 5
// CHECK: tensor<i64> 26
// CHECK: tensor<i64> 13
// CHECK: tensor<i64> 8
// A condition that hands on what it computes is evaluated before the loop and at the end of its body; one that hands on its arguments
// in another order, or twice, is not.
// TEXT: stablehlo.multiply
// TEXT: stablehlo.compare
// TEXT: stablehlo.while
// TEXT: stablehlo.return
// TEXT: stablehlo.multiply
// TEXT: stablehlo.compare
// TEXT: stablehlo.return
// TEXT: stablehlo.while (%n, %one, %one)
%n = pd.data {name = "n", shape = [], dtype = i64} : tensor<i64>
%zero = pd.full {shape = [], value = 0, dtype = i64} : tensor<i64>
%one = pd.full {shape = [], value = 1, dtype = i64} : tensor<i64>
%i, %square = pd.while (%zero) cond (%h: tensor<i64>) {
  %s = pd.multiply (%h, %h) : tensor<i64>
  %go = pd.less_than (%h, %n) : tensor<i1>
  %t = pd.add (%s, %one) : tensor<i64>
  cf.cond_yield (%go, %h, %t)
} body (%g: tensor<i64>, %t: tensor<i64>) {
  %next = pd.add (%g, %one) : tensor<i64>
  cf.yield (%next)
} : tensor<i64>, tensor<i64>
%b, %a, %c = pd.while (%n, %one, %one) cond (%k: tensor<i64>, %p: tensor<i64>, %q: tensor<i64>) {
  %go = pd.greater_than (%k, %zero) : tensor<i1>
  cf.cond_yield (%go, %q, %p, %k)
} body (%q: tensor<i64>, %p: tensor<i64>, %k: tensor<i64>) {
  %sum = pd.add (%p, %q) : tensor<i64>
  %less = pd.subtract (%k, %one) : tensor<i64>
  cf.yield (%less, %q, %sum)
} : tensor<i64>, tensor<i64>, tensor<i64>
pd.fetch (%i) {name = "i"}
pd.fetch (%square) {name = "square"}
pd.fetch (%b) {name = "b"}
pd.fetch (%a) {name = "a"}
