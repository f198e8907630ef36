// A loop in what an operation computes, in a loop of the program: recorded, differentiated, and run as a graph.
// RUN: pir-run --load-dialect %S/inputs/my.yaml --check-grad %s --input x=rand
// RUN: pir-run --load-dialect %S/inputs/my.yaml %s --input x=0.5 | FileCheck %s
// RUN: pir-run --load-dialect %S/inputs/my.yaml --dataflow %s --input x=0.5 | FileCheck %s
// CHECK: y = tensor<2xf64> [0.1001399
%x = pd.data {name = "x", shape = [2], dtype = f64} : tensor<2xf64>
%zero = pd.full {shape = [1], value = 0, dtype = i64} : tensor<1xi64>
%one = pd.full {shape = [1], value = 1, dtype = i64} : tensor<1xi64>
%n = pd.full {shape = [1], value = 2, dtype = i64} : tensor<1xi64>
%i, %y = pd.while (%zero, %x) cond (%j: tensor<1xi64>, %a: tensor<2xf64>) {
  %go = pd.less_than (%j, %n) : tensor<1xi1>
  cf.cond_yield (%go, %j, %a)
} body (%j: tensor<1xi64>, %b: tensor<2xf64>) {
  %next = pd.add (%j, %one) : tensor<1xi64>
  %c = my.softcap (%b) {cap = 2.0}
  %d = my.power (%c) {times = 2}
  %e = my.smooth (%d)
  %f = pd.multiply (%e, %d)
  cf.yield (%next, %f)
} : tensor<1xi64>, tensor<2xf64>
pd.fetch (%y) {name = "y"}
