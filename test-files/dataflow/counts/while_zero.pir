// A loop that does not run its body: while (i < 0) i = i + 1.
//
// RUN: pir-run --dataflow --stats %s 2>&1 | FileCheck %s
//
// CHECK: x = tensor<i64> 0
// CHECK: {{^}}  "dead": 4,
// CHECK: {{^}}  "live": 9,
//
// Outside: init, enter, fetch are live. In the only iteration: merge, limit, p, loop_cond, switch, exit are live; pivot,
// one, sum, next_iteration are dead.
df.graph {
  %init = pd.full {shape = [], value = 0, dtype = i64} : tensor<i64>
  %e = df.enter (%init) {frame = "w"} : tensor<i64>
  %m, %index = df.merge (%e, %next) : tensor<i64>, tensor<i32>
  %limit = pd.full {shape = [], value = 0, dtype = i64} : tensor<i64>
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
