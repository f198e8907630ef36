// Without control flow every node runs once.
//
// RUN: pir-run --dataflow --stats %s 2>&1 | FileCheck %s
//
// CHECK: y = tensor<i64> 7
// CHECK: {{^}}  "dead": 0,
// CHECK: {{^}}  "live": 4,
//
// Live: a, b, y, the fetch.
df.graph {
  pd.fetch (%y) {name = "y"}
  %y = pd.add (%a, %b) : tensor<i64>
  %a = pd.full {shape = [], value = 3, dtype = i64} : tensor<i64>
  %b = pd.full {shape = [], value = 4, dtype = i64} : tensor<i64>
}
