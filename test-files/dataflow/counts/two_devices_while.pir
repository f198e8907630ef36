// A loop whose body is on another device, which runs a loop of its own that is told at each iteration whether there is a
// next one: while (i < 3) i = i + 1.
//
// RUN: pir-run --dataflow --stats %s 2>&1 | FileCheck %s
//
// CHECK: x = tensor<i64> 3
// CHECK: {{^}}  "dead": 10,
// CHECK: {{^}}  "live": 75,
//
// Device 0, outside: zero, enter, fetch: 3. In each of 4 iterations: merge, limit, p, loop_cond, the send of it, the switch,
// the recv are live: 28. The exit is live once, dead 3 times; the other send and next_iteration live 3 times, dead once.
// That is 38 and 5.
// Device 1, outside: zero, enter: 2. In each of 4 iterations: merge, two recvs, loop_cond, the switch are live: 20.
// next_iteration, pivot, one, sum, the send are live 3 times, dead once. That is 37 and 5.
df.graph {device = 0} {
  %zero = pd.full {shape = [], value = 0, dtype = i64} : tensor<i64>
  %e = df.enter (%zero) {frame = "w"} : tensor<i64>
  %m, %index = df.merge (%e, %next) : tensor<i64>, tensor<i32>
  %limit = pd.full {shape = [], value = 3, dtype = i64} : tensor<i64>
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
