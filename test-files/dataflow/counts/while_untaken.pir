// A loop on a branch that is not taken: its frame is entered by dead values, and its exit is dead when it ends.
//
// RUN: pir-run --dataflow --stats %s 2>&1 | FileCheck %s
//
// CHECK: r = tensor<i64> 7
// CHECK: {{^}}  "dead": 11,
// CHECK: {{^}}  "live": 6,
//
// Live: x, y, p, its switch, the merge behind the loop, the fetch.
// Dead: enter, merge, limit, q, loop_cond, switch, exit, pivot, one, sum, next_iteration.
df.graph {
  %x = pd.full {shape = [], value = 7, dtype = i64} : tensor<i64>
  %y = pd.full {shape = [], value = 3, dtype = i64} : tensor<i64>
  %p = pd.less_than (%x, %y) : tensor<i1>
  %xf, %xt = df.switch (%x, %p) : tensor<i64>, tensor<i64>
  %e = df.enter (%xt) {frame = "w"} : tensor<i64>
  %m, %index = df.merge (%e, %next) : tensor<i64>, tensor<i32>
  %limit = pd.full {shape = [], value = 10, dtype = i64} : tensor<i64>
  df.control (%limit, %m)
  %q = pd.less_than (%m, %limit) : tensor<i1>
  %more = df.loop_cond (%q) : tensor<i1>
  %f, %t = df.switch (%m, %more) : tensor<i64>, tensor<i64>
  %out = df.exit (%f) : tensor<i64>
  %pivot = df.identity (%t) : tensor<i64>
  %one = pd.full {shape = [], value = 1, dtype = i64} : tensor<i64>
  df.control (%one, %pivot)
  %sum = pd.add (%t, %one) : tensor<i64>
  %next = df.next_iteration (%sum) : tensor<i64>
  %r, %which = df.merge (%xf, %out) : tensor<i64>, tensor<i32>
  pd.fetch (%r) {name = "r"}
}
