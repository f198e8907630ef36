// A loop in a loop, whose body is on another device: twice two times a = a + 1. That one has a loop for each of them.
//
// RUN: pir-run --dataflow --stats %s 2>&1 | FileCheck %s
//
// CHECK: a = tensor<i64> 4
// CHECK: {{^}}  "dead": 59,
// CHECK: {{^}}  "live": 188,
//
// Device 0, outside: zero, a0, two enters, the fetch: 5.
// Outer frame, 3 iterations: two merges, two, p, loop_cond, the send of it, two switches: 24. The exit is live once, dead
// twice. Pivot, one, i1, j0, three enters, two next_iterations are live twice, dead once: 18 and 9.
// Inner frame, entered twice by live values, for 3 iterations: two merges, limit, q, loop_cond, the send of it, two
// switches, the recv: 27; the exit is live once, dead twice; j1, the send of b, two next_iterations are live twice, dead
// once: 8 and 4. That is 36 and 6. Once by dead values, for one iteration: all of its 14 nodes are dead.
// Live: 5 + 24 + 1 + 18 + 2 * 36 = 120. Dead: 2 + 9 + 2 * 6 + 14 = 37.
// Device 1, outside: zero, enter: 2. Outer frame, 3 iterations: merge, recv, loop_cond, switch: 12; next_iteration and the
// inner enter are live twice, dead once: 4 and 2.
// Inner frame, entered twice by live values, for 3 iterations: merge, two recvs, loop_cond, switch: 15; next_iteration,
// pivot, one, sum, the send are live twice, dead once: 10 and 5. Once by dead values: all of its 10 nodes are dead.
// Live: 2 + 12 + 4 + 2 * 25 = 68. Dead: 2 + 2 * 5 + 10 = 22.
df.graph {device = 0} {
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
  %sent_p = df.send (%more) {key = "p", from = 0, to = 1} : df.control
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
  %limit = pd.full {shape = [], value = 2, dtype = i64} : tensor<i64>
  df.control (%limit, %mj)
  %q = pd.less_than (%mj, %limit) : tensor<i1>
  %again = df.loop_cond (%q) : tensor<i1>
  %sent_q = df.send (%again) {key = "q", from = 0, to = 1} : df.control
  %fj, %tj = df.switch (%mj, %again) : tensor<i64>, tensor<i64>
  %fb, %tb = df.switch (%mb, %again) : tensor<i64>, tensor<i64>
  %xb = df.exit (%fb) : tensor<i64>
  %j1 = pd.add (%tj, %eone) : tensor<i64>
  %nj = df.next_iteration (%j1) : tensor<i64>
  %sent_b = df.send (%tb) {key = "b", from = 0, to = 1} : df.control
  %back = df.recv () {key = "sum", from = 1, to = 0} : tensor<i64>
  df.control (%back, %mj)
  %nb = df.next_iteration (%back) : tensor<i64>
  %na = df.next_iteration (%xb) : tensor<i64>
  pd.fetch (%xa) {name = "a"}
}
df.graph {device = 1} {
  %zero = pd.full {shape = [], value = 0, dtype = i64} : tensor<i64>
  %e = df.enter (%zero) {frame = "outer"} : tensor<i64>
  %m, %index = df.merge (%e, %next) : tensor<i64>, tensor<i32>
  %p = df.recv () {key = "p", from = 0, to = 1} : tensor<i1>
  df.control (%p, %m)
  %more = df.loop_cond (%p) : tensor<i1>
  %f, %t = df.switch (%m, %more) : tensor<i64>, tensor<i64>
  %next = df.next_iteration (%t) : tensor<i64>
  %ew = df.enter (%t) {frame = "inner"} : tensor<i64>
  %mw, %iw = df.merge (%ew, %nw) : tensor<i64>, tensor<i32>
  %q = df.recv () {key = "q", from = 0, to = 1} : tensor<i1>
  df.control (%q, %mw)
  %again = df.loop_cond (%q) : tensor<i1>
  %fw, %tw = df.switch (%mw, %again) : tensor<i64>, tensor<i64>
  %nw = df.next_iteration (%tw) : tensor<i64>
  %b = df.recv () {key = "b", from = 0, to = 1} : tensor<i64>
  df.control (%b, %mw)
  %pivot = df.identity (%tw) : tensor<i64>
  %one = pd.full {shape = [], value = 1, dtype = i64} : tensor<i64>
  df.control (%one, %pivot)
  %sum = pd.add (%b, %one) : tensor<i64>
  %sent = df.send (%sum) {key = "sum", from = 1, to = 0} : df.control
}
