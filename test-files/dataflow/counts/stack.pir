// One loop pushes 1, 2, 4, another one pops them: a = 10 * a + popped. A push comes after the counter and before the next
// iteration, a pop before the next iteration.
//
// RUN: pir-run --dataflow --stats %s 2>&1 | FileCheck %s
//
// CHECK: a = tensor<i64> 421
// CHECK: {{^}}  "dead": 22,
// CHECK: {{^}}  "live": 117,
//
// Outside: zero, x0, a0, the stack, six enters, the fetch are live: 11.
// First loop, 4 iterations: two merges, three, p, loop_cond, two switches are live: 28. The exit is live once, dead 3 times.
// Pivot, one, i1, push, x1, two next_iterations are live 3 times, dead once: 21 and 7.
// Second loop, 4 iterations: two merges, none, q, loop_cond, two switches are live: 28. The exit is live once, dead 3 times.
// Pivot, pop, one, k1, ten, t, a1, two next_iterations are live 3 times, dead once: 27 and 9.
// Live: 11 + 28 + 1 + 21 + 28 + 1 + 27. Dead: 3 + 7 + 3 + 9.
df.graph {
  %zero = pd.full {shape = [], value = 0, dtype = i64} : tensor<i64>
  %x0 = pd.full {shape = [], value = 1, dtype = i64} : tensor<i64>
  %a0 = pd.full {shape = [], value = 0, dtype = i64} : tensor<i64>
  %stack = df.stack () : df.stack
  %ei = df.enter (%zero) {frame = "push"} : tensor<i64>
  %ex = df.enter (%x0) {frame = "push"} : tensor<i64>
  %es = df.enter (%stack) {frame = "push", constant = true} : df.stack
  %mi, %ii = df.merge (%ei, %ni) : tensor<i64>, tensor<i32>
  %mx, %ix = df.merge (%ex, %nx) : tensor<i64>, tensor<i32>
  %three = pd.full {shape = [], value = 3, dtype = i64} : tensor<i64>
  df.control (%three, %mi)
  %p = pd.less_than (%mi, %three) : tensor<i1>
  %more = df.loop_cond (%p) : tensor<i1>
  %fi, %ti = df.switch (%mi, %more) : tensor<i64>, tensor<i64>
  %fx, %tx = df.switch (%mx, %more) : tensor<i64>, tensor<i64>
  %n = df.exit (%fi) : tensor<i64>
  %pivot = df.identity (%ti) : tensor<i64>
  %one = pd.full {shape = [], value = 1, dtype = i64} : tensor<i64>
  df.control (%one, %pivot)
  %i1 = pd.add (%ti, %one) : tensor<i64>
  %pushed = df.stack_push (%es, %tx) : tensor<i64>
  df.control (%pushed, %i1)
  %x1 = pd.add (%pushed, %pushed) : tensor<i64>
  %ni = df.next_iteration (%i1) : tensor<i64>
  df.control (%ni, %pushed)
  %nx = df.next_iteration (%x1) : tensor<i64>

  %ek = df.enter (%n) {frame = "pop"} : tensor<i64>
  %ea = df.enter (%a0) {frame = "pop"} : tensor<i64>
  %es2 = df.enter (%stack) {frame = "pop", constant = true} : df.stack
  %mk, %ik = df.merge (%ek, %nk) : tensor<i64>, tensor<i32>
  %ma, %ia = df.merge (%ea, %na) : tensor<i64>, tensor<i32>
  %none = pd.full {shape = [], value = 0, dtype = i64} : tensor<i64>
  df.control (%none, %mk)
  %q = pd.greater_than (%mk, %none) : tensor<i1>
  %again = df.loop_cond (%q) : tensor<i1>
  %fk, %tk = df.switch (%mk, %again) : tensor<i64>, tensor<i64>
  %fa, %ta = df.switch (%ma, %again) : tensor<i64>, tensor<i64>
  %a = df.exit (%fa) : tensor<i64>
  %pivot2 = df.identity (%tk) : tensor<i64>
  %popped = df.stack_pop (%es2) : tensor<i64>
  df.control (%popped, %pivot2)
  %one2 = pd.full {shape = [], value = 1, dtype = i64} : tensor<i64>
  df.control (%one2, %pivot2)
  %k1 = pd.subtract (%tk, %one2) : tensor<i64>
  %nk = df.next_iteration (%k1) : tensor<i64>
  df.control (%nk, %popped)
  %ten = pd.full {shape = [], value = 10, dtype = i64} : tensor<i64>
  df.control (%ten, %pivot2)
  %t = pd.multiply (%ta, %ten) : tensor<i64>
  %a1 = pd.add (%t, %popped) : tensor<i64>
  %na = df.next_iteration (%a1) : tensor<i64>
  pd.fetch (%a) {name = "a"}
}
