// A loop in a loop: twice three times a = a + 1.
//
// RUN: pir-run --dataflow --stats %s 2>&1 | FileCheck %s
//
// CHECK: a = tensor<i64> 6
// CHECK: {{^}}  "dead": 37,
// CHECK: {{^}}  "live": 127,
//
// Outside: zero, a0, two enters, the fetch are live: 5.
// Outer frame, 3 iterations: two merges, two, p, loop_cond, two switches are live: 21. The exit is live once, dead twice.
// Pivot, one, i1, j0, three enters, two next_iterations are live twice, dead once: 18 and 9.
// Inner frame, entered three times. Twice by live values, for 4 iterations: two merges, three, q, loop_cond, two switches
// are live: 28; the exit live once, dead 3 times; j1, b1, two next_iterations live 3 times, dead once. That is 41 and 7.
// Once by dead values, for one iteration: all of its 12 nodes are dead.
// Live: 5 + 21 + 1 + 18 + 2 * 41. Dead: 2 + 9 + 2 * 7 + 12.
df.graph {
  %zero = pd.full {shape = [], value = 0, dtype = i64} : tensor<i64>
  %a0 = pd.full {shape = [], value = 0, dtype = i64} : tensor<i64>
  %ei = df.enter (%zero) {frame = "outer"} : tensor<i64>
  %ea = df.enter (%a0) {frame = "outer"} : tensor<i64>
  %mi, %ii = df.merge (%ei, %ni) : tensor<i64>, tensor<i32>
  %ma, %ia = df.merge (%ea, %na) : tensor<i64>, tensor<i32>
  %two = pd.full {shape = [], value = 2, dtype = i64} : tensor<i64>
  df.control (%two, %mi)
  %p = pd.less_than (%mi, %two) : tensor<i1>
  %more = df.loop_cond (%p) : tensor<i1>
  %fi, %ti = df.switch (%mi, %more) : tensor<i64>, tensor<i64>
  %fa, %ta = df.switch (%ma, %more) : tensor<i64>, tensor<i64>
  %xa = df.exit (%fa) : tensor<i64>
  %pivot = df.identity (%ti) : tensor<i64>
  %one = pd.full {shape = [], value = 1, dtype = i64} : tensor<i64>
  df.control (%one, %pivot)
  %i1 = pd.add (%ti, %one) : tensor<i64>
  %ni = df.next_iteration (%i1) : tensor<i64>
  %j0 = pd.full {shape = [], value = 0, dtype = i64} : tensor<i64>
  df.control (%j0, %pivot)
  %ej = df.enter (%j0) {frame = "inner"} : tensor<i64>
  %eb = df.enter (%ta) {frame = "inner"} : tensor<i64>
  %eone = df.enter (%one) {frame = "inner", constant = true} : tensor<i64>
  %mj, %ij = df.merge (%ej, %nj) : tensor<i64>, tensor<i32>
  %mb, %ib = df.merge (%eb, %nb) : tensor<i64>, tensor<i32>
  %three = pd.full {shape = [], value = 3, dtype = i64} : tensor<i64>
  df.control (%three, %mj)
  %q = pd.less_than (%mj, %three) : tensor<i1>
  %again = df.loop_cond (%q) : tensor<i1>
  %fj, %tj = df.switch (%mj, %again) : tensor<i64>, tensor<i64>
  %fb, %tb = df.switch (%mb, %again) : tensor<i64>, tensor<i64>
  %xb = df.exit (%fb) : tensor<i64>
  %j1 = pd.add (%tj, %eone) : tensor<i64>
  %b1 = pd.add (%tb, %eone) : tensor<i64>
  %nj = df.next_iteration (%j1) : tensor<i64>
  %nb = df.next_iteration (%b1) : tensor<i64>
  %na = df.next_iteration (%xb) : tensor<i64>
  pd.fetch (%xa) {name = "a"}
}
