// A value goes to another device and comes back.
//
// RUN: pir-run --dataflow --stats %s 2>&1 | FileCheck %s
//
// CHECK: y = tensor<i64> 9
// CHECK: {{^}}  "dead": 0,
// CHECK: {{^}}  "live": 7,
//
// Live: on device 0 a, the send, the recv, the fetch; on device 1 the recv, y, the send.
df.graph {device = 0} {
  %a = pd.full {shape = [], value = 3, dtype = i64} : tensor<i64>
  %sent = df.send (%a) {key = "a", from = 0, to = 1} : df.control
  %back = df.recv () {key = "y", from = 1, to = 0} : tensor<i64>
  pd.fetch (%back) {name = "y"}
}
df.graph {device = 1} {
  %a = df.recv () {key = "a", from = 0, to = 1} : tensor<i64>
  %y = pd.multiply (%a, %a) : tensor<i64>
  %sent = df.send (%y) {key = "y", from = 1, to = 0} : df.control
}
