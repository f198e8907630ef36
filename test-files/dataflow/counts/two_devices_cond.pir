// A branch that is not taken on another device: that it is dead is sent there and back.
//
// RUN: pir-run --dataflow --stats %s 2>&1 | FileCheck %s
//
// CHECK: r = tensor<i64> 1
// CHECK: {{^}}  "dead": 3,
// CHECK: {{^}}  "live": 8,
//
// Live: on device 0 x, y, p, the switch, the recv (what it gives is dead, it is not), the merge, the fetch; on device 1 the
// recv. Dead: on device 0 the send, on device 1 the sum and the send. They send all the same.
df.graph {device = 0} {
  %x = pd.full {shape = [], value = 1, dtype = i64} : tensor<i64>
  %y = pd.full {shape = [], value = 2, dtype = i64} : tensor<i64>
  %p = pd.less_than (%y, %x) : tensor<i1>
  %f, %t = df.switch (%x, %p) : tensor<i64>, tensor<i64>
  %sent = df.send (%t) {key = "x", from = 0, to = 1} : df.control
  %back = df.recv () {key = "sum", from = 1, to = 0} : tensor<i64>
  %r, %which = df.merge (%f, %back) : tensor<i64>, tensor<i32>
  pd.fetch (%r) {name = "r"}
}
df.graph {device = 1} {
  %x = df.recv () {key = "x", from = 0, to = 1} : tensor<i64>
  %sum = pd.add (%x, %x) : tensor<i64>
  %sent = df.send (%sum) {key = "sum", from = 1, to = 0} : df.control
}
