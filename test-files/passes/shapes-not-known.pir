// RUN: pir-opt --pass=unroll %s | FileCheck %s --check-prefix=UNROLL
// RUN: pir-opt -O3 %s | FileCheck %s --check-prefix=O3
// RUN: pir-opt --pass=unroll %s | pir-run - --input 'w=[[1.0, 2.0], [3.0, 4.0]]' --input 'y=[[0.5, 1.5], [2.5, 3.5]]' | FileCheck %s --check-prefix=RESULT
// RUN: pir-run %s --input 'w=[[1.0, 2.0], [3.0, 4.0]]' --input 'y=[[0.5, 1.5], [2.5, 3.5]]' | FileCheck %s --check-prefix=RESULT

// The body yields a value of which less is known than of the argument: `pd.unbind` reads how many rows it has.
%w = pd.data {name = "w", shape = [-1, -1], dtype = f64} : tensor<?x?xf64>
%y = pd.data {name = "y", shape = [2, -1], dtype = f64} : tensor<2x?xf64>
%zero = pd.full {shape = [], value = 0, dtype = i64} : tensor<i64>
%two = pd.full {shape = [], value = 2, dtype = i64} : tensor<i64>
%one = pd.full {shape = [], value = 1, dtype = i64} : tensor<i64>
%i, %r = pd.while (%zero, %y) cond (%i: tensor<i64>, %a: tensor<2x?xf64>) {
  %go = pd.less_than (%i, %two) : tensor<i1>
  cf.cond_yield (%go, %i, %a)
} body (%i: tensor<i64>, %a: tensor<2x?xf64>) {
  %u, %v = pd.unbind (%a) {axis = 0} : tensor<?xf64>, tensor<?xf64>
  %m = pd.multiply (%u, %v) : tensor<?xf64>
  %s = pd.add (%w, %m) : tensor<?x?xf64>
  %k = pd.add (%i, %one) : tensor<i64>
  cf.yield (%k, %s)
} : tensor<i64>, tensor<2x?xf64>
pd.fetch (%r) {name = "r"}
// UNROLL: pd.unbind (%y)
// UNROLL: %[[S:.*]] = pd.add (%w, %{{.*}}) : tensor<?x?xf64>
// UNROLL: %[[A:.*]] = pd.assign (%[[S]]) : tensor<2x?xf64>
// UNROLL: pd.unbind (%[[A]])
// O3: pd.assign (%{{.*}}) : tensor<2x?xf64>
// RESULT: r = tensor<2x2xf64> {{\[\[}}10.5625, 69.0625], [12.5625, 71.0625]]
