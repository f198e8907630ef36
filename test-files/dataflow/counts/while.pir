// A loop: while (i < 3) i = i + 1.
//
// RUN: pir-run --dataflow --stats %s 2>&1 | FileCheck %s
//
// CHECK: x = tensor<i64> 3
// CHECK: {{^}}  "dead": 7,
// CHECK: {{^}}  "live": 36,
//
// Outside: init, enter, fetch are live.
// In each of 4 iterations: merge, limit, p, loop_cond, switch are live: 20.
// The exit is live in the last iteration and dead in 3. Pivot, one, sum, next_iteration are live in 3, dead in the last.
// Live: 3 + 20 + 1 + 4 * 3. Dead: 3 + 4.
df.graph {
  %init = pd.full {shape = [], value = 0, dtype = i64} : tensor<i64>
  %e = df.enter (%init) {frame = "w"} : tensor<i64>
  %m, %index = df.merge (%e, %next) : tensor<i64>, tensor<i32>
  %limit = pd.full {shape = [], value = 3, dtype = i64} : tensor<i64>
  df.control (%limit, %m)
  %p = pd.less_than (%m, %limit) : tensor<i1>
  %more = df.loop_cond (%p) : tensor<i1>
  %f, %t = df.switch (%m, %more) : tensor<i64>, tensor<i64>
  %x = df.exit (%f) : tensor<i64>
  %pivot = df.identity (%t) : tensor<i64>
  %one = pd.full {shape = [], value = 1, dtype = i64} : tensor<i64>
  df.control (%one, %pivot)
  %sum = pd.add (%t, %one) : tensor<i64>
  %next = df.next_iteration (%sum) : tensor<i64>
  pd.fetch (%x) {name = "x"}
}
