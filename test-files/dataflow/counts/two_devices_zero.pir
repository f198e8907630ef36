// The same loop without an iteration: the other device hears that there is none.
//
// RUN: pir-run --dataflow --stats %s 2>&1 | FileCheck %s
//
// CHECK: x = tensor<i64> 0
// CHECK: {{^}}  "dead": 7,
// CHECK: {{^}}  "live": 18,
//
// Device 0: zero, enter, fetch, merge, limit, p, loop_cond, the send of it, the switch, the recv, the exit are live; the
// other send, and next_iteration, since the recv gave something dead, are dead. That is 11 and 2.
// Device 1: zero, enter, merge, two recvs, loop_cond, the switch are live; next_iteration, pivot, one, sum, the send are
// dead. That is 7 and 5.
df.graph {device = 0} {
  %zero = pd.full {shape = [], value = 0, dtype = i64} : tensor<i64>
  %e = df.enter (%zero) {frame = "w"} : tensor<i64>
  %m, %index = df.merge (%e, %next) : tensor<i64>, tensor<i32>
  %limit = pd.full {shape = [], value = 0, dtype = i64} : tensor<i64>
  df.control (%limit, %m)
  %p = pd.less_than (%m, %limit) : tensor<i1>
  %more = df.loop_cond (%p) : tensor<i1>
  %sent_p = df.send (%more) {key = "p", from = 0, to = 1} : df.control
  %f, %t = df.switch (%m, %more) : tensor<i64>, tensor<i64>
  %x = df.exit (%f) : tensor<i64>
  %sent = df.send (%t) {key = "i", from = 0, to = 1} : df.control
  %back = df.recv () {key = "sum", from = 1, to = 0} : tensor<i64>
  df.control (%back, %m)
  %next = df.next_iteration (%back) : tensor<i64>
  pd.fetch (%x) {name = "x"}
}
df.graph {device = 1} {
  %zero = pd.full {shape = [], value = 0, dtype = i64} : tensor<i64>
  %e = df.enter (%zero) {frame = "w"} : tensor<i64>
  %m, %index = df.merge (%e, %next) : tensor<i64>, tensor<i32>
  %p = df.recv () {key = "p", from = 0, to = 1} : tensor<i1>
  df.control (%p, %m)
  %more = df.loop_cond (%p) : tensor<i1>
  %f, %t = df.switch (%m, %more) : tensor<i64>, tensor<i64>
  %next = df.next_iteration (%t) : tensor<i64>
  %i = df.recv () {key = "i", from = 0, to = 1} : tensor<i64>
  df.control (%i, %m)
  %pivot = df.identity (%t) : tensor<i64>
  %one = pd.full {shape = [], value = 1, dtype = i64} : tensor<i64>
  df.control (%one, %pivot)
  %sum = pd.add (%i, %one) : tensor<i64>
  %sent = df.send (%sum) {key = "sum", from = 1, to = 0} : df.control
}
