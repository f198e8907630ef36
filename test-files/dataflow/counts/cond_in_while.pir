// A branch in a loop: for i from 0 to 3, a = i < 2 ? a + 1 : a + a, from a = 1.
//
// RUN: pir-run --dataflow --stats %s 2>&1 | FileCheck %s
//
// CHECK: a = tensor<i64> 12
// CHECK: {{^}}  "dead": 26,
// CHECK: {{^}}  "live": 89,
//
// Outside: zero, a0, two enters, the fetch are live: 5.
// In each of 5 iterations: two merges, four, p, loop_cond, two switches are live: 35. The exit is live once, dead 4 times.
// In 4 iterations: pivot, two, q, two switches, the merge, inc, i1, two next_iterations are live: 40. The pivot of the
// branch, one, the sum are live twice and dead twice, the double likewise: 8 and 8. In the last iteration these 14 are dead.
// Live: 5 + 35 + 1 + 40 + 8. Dead: 4 + 8 + 14.
df.graph {
  %zero = pd.full {shape = [], value = 0, dtype = i64} : tensor<i64>
  %a0 = pd.full {shape = [], value = 1, dtype = i64} : tensor<i64>
  %ei = df.enter (%zero) {frame = "w"} : tensor<i64>
  %ea = df.enter (%a0) {frame = "w"} : tensor<i64>
  %mi, %ii = df.merge (%ei, %ni) : tensor<i64>, tensor<i32>
  %ma, %ia = df.merge (%ea, %na) : tensor<i64>, tensor<i32>
  %four = pd.full {shape = [], value = 4, dtype = i64} : tensor<i64>
  df.control (%four, %mi)
  %p = pd.less_than (%mi, %four) : tensor<i1>
  %more = df.loop_cond (%p) : tensor<i1>
  %fi, %ti = df.switch (%mi, %more) : tensor<i64>, tensor<i64>
  %fa, %ta = df.switch (%ma, %more) : tensor<i64>, tensor<i64>
  %xa = df.exit (%fa) : tensor<i64>
  %pivot = df.identity (%ti) : tensor<i64>
  %two = pd.full {shape = [], value = 2, dtype = i64} : tensor<i64>
  df.control (%two, %pivot)
  %q = pd.less_than (%ti, %two) : tensor<i1>
  %af, %at = df.switch (%ta, %q) : tensor<i64>, tensor<i64>
  %qf, %qt = df.switch (%q, %q) : tensor<i1>, tensor<i1>
  %then = df.identity (%qt) : tensor<i1>
  %one = pd.full {shape = [], value = 1, dtype = i64} : tensor<i64>
  df.control (%one, %then)
  %sum = pd.add (%at, %one) : tensor<i64>
  %double = pd.add (%af, %af) : tensor<i64>
  %a, %which = df.merge (%double, %sum) : tensor<i64>, tensor<i32>
  %inc = pd.full {shape = [], value = 1, dtype = i64} : tensor<i64>
  df.control (%inc, %pivot)
  %i1 = pd.add (%ti, %inc) : tensor<i64>
  %ni = df.next_iteration (%i1) : tensor<i64>
  %na = df.next_iteration (%a) : tensor<i64>
  pd.fetch (%xa) {name = "a"}
}
