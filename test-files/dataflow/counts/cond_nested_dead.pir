// The same, with the outer branch not taken: all of the inner one is dead.
//
// RUN: pir-run --dataflow --stats %s 2>&1 | FileCheck %s
//
// CHECK: r = tensor<i64> 0
// CHECK: {{^}}  "dead": 7,
// CHECK: {{^}}  "live": 8,
//
// Live: x, c0, p, two switches, nothing, the outer merge, the fetch.
// Dead: the pivot, c5, q, its switch, twice, the square, the inner merge.
df.graph {
  %x = pd.full {shape = [], value = -1, dtype = i64} : tensor<i64>
  %c0 = pd.full {shape = [], value = 0, dtype = i64} : tensor<i64>
  %p = pd.greater_than (%x, %c0) : tensor<i1>
  %xf, %xt = df.switch (%x, %p) : tensor<i64>, tensor<i64>
  %pf, %pt = df.switch (%p, %p) : tensor<i1>, tensor<i1>
  %pivot = df.identity (%pt) : tensor<i1>
  %c5 = pd.full {shape = [], value = 5, dtype = i64} : tensor<i64>
  df.control (%c5, %pivot)
  %q = pd.greater_than (%xt, %c5) : tensor<i1>
  %qf, %qt = df.switch (%xt, %q) : tensor<i64>, tensor<i64>
  %twice = pd.add (%qt, %qt) : tensor<i64>
  %square = pd.multiply (%qf, %qf) : tensor<i64>
  %inner, %i = df.merge (%square, %twice) : tensor<i64>, tensor<i32>
  %nothing = pd.subtract (%xf, %xf) : tensor<i64>
  %outer, %o = df.merge (%nothing, %inner) : tensor<i64>, tensor<i32>
  pd.fetch (%outer) {name = "r"}
}
