// What a recv gives may be dead; its control edges are live all the same.
//
// RUN: pir-run --dataflow --stats %s 2>&1 | FileCheck %s
//
// CHECK: c = tensor<i64> 4
// CHECK: {{^}}  "dead": 2,
// CHECK: {{^}}  "live": 7,
//
// Live: on device 0 x, y, p, the switch; on device 1 the recv, c (comes after it), the fetch.
// Dead: the send, what reads the recv.
df.graph {device = 0} {
  %x = pd.full {shape = [], value = 1, dtype = i64} : tensor<i64>
  %y = pd.full {shape = [], value = 2, dtype = i64} : tensor<i64>
  %p = pd.less_than (%y, %x) : tensor<i1>
  %f, %t = df.switch (%x, %p) : tensor<i64>, tensor<i64>
  %sent = df.send (%t) {key = "x", from = 0, to = 1} : df.control
}
df.graph {device = 1} {
  %x = df.recv () {key = "x", from = 0, to = 1} : tensor<i64>
  %reads = df.identity (%x) : tensor<i64>
  %c = pd.full {shape = [], value = 4, dtype = i64} : tensor<i64>
  df.control (%c, %x)
  pd.fetch (%c) {name = "c"}
}
