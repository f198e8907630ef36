// Control edges carry whether their node was dead, except those of a switch, which are always live, even if it is dead. A
// merge does not care.
//
// RUN: pir-run --dataflow --stats %s 2>&1 | FileCheck %s
//
// CHECK: m = tensor<i64> 1
// CHECK: c2 = tensor<i64> 20
// CHECK: c3 = tensor<i64> 30
// CHECK: {{^}}  "dead": 3,
// CHECK: {{^}}  "live": 11,
//
// Live: x, y, p, its switch, c2 (comes after that switch), c3 (comes after a dead switch), m (comes after something dead,
// and gets t), the no_op, three fetches. Dead: d, c1 (comes after d), the switch of d.
df.graph {
  %x = pd.full {shape = [], value = 1, dtype = i64} : tensor<i64>
  %y = pd.full {shape = [], value = 2, dtype = i64} : tensor<i64>
  %p = pd.less_than (%x, %y) : tensor<i1>
  %f, %t = df.switch (%x, %p) : tensor<i64>, tensor<i64>
  %d = df.identity (%f) : tensor<i64>
  %c1 = pd.full {shape = [], value = 10, dtype = i64} : tensor<i64>
  df.control (%c1, %d)
  %c2 = pd.full {shape = [], value = 20, dtype = i64} : tensor<i64>
  df.control (%c2, %f)
  %m, %i = df.merge (%c1, %t) : tensor<i64>, tensor<i32>
  df.control (%m, %d)
  %g, %h = df.switch (%d, %p) : tensor<i64>, tensor<i64>
  %c3 = pd.full {shape = [], value = 30, dtype = i64} : tensor<i64>
  df.control (%c3, %g, %done)
  %done = df.no_op () : df.control
  df.control (%done, %m, %x)
  pd.fetch (%m) {name = "m"}
  pd.fetch (%c2) {name = "c2"}
  pd.fetch (%c3) {name = "c3"}
}
