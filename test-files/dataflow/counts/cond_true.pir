// A conditional: x < y ? x + z : y * y. The branch that is taken is the second input of the merge.
//
// RUN: pir-run --dataflow --stats %s 2>&1 | FileCheck %s
//
// CHECK: r = tensor<i64> 6
// CHECK: which = tensor<i32> 1
// CHECK: {{^}}  "dead": 1,
// CHECK: {{^}}  "live": 11,
//
// Live: x, y, z, p, three switches, the sum, the merge, two fetches.
// Dead: the square.
df.graph {
  %x = pd.full {shape = [], value = 1, dtype = i64} : tensor<i64>
  %y = pd.full {shape = [], value = 2, dtype = i64} : tensor<i64>
  %z = pd.full {shape = [], value = 5, dtype = i64} : tensor<i64>
  %p = pd.less_than (%x, %y) : tensor<i1>
  %xf, %xt = df.switch (%x, %p) : tensor<i64>, tensor<i64>
  %yf, %yt = df.switch (%y, %p) : tensor<i64>, tensor<i64>
  %zf, %zt = df.switch (%z, %p) : tensor<i64>, tensor<i64>
  %sum = pd.add (%xt, %zt) : tensor<i64>
  %square = pd.multiply (%yf, %yf) : tensor<i64>
  %r, %which = df.merge (%square, %sum) : tensor<i64>, tensor<i32>
  pd.fetch (%r) {name = "r"}
  pd.fetch (%which) {name = "which"}
}
