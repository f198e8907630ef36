// A loop that reads what does not change: n and c are there in every iteration, the last one included.
//
// RUN: pir-run --dataflow --stats %s 2>&1 | FileCheck %s
//
// CHECK: s = tensor<i64> 121
// CHECK: {{^}}  "dead": 9,
// CHECK: {{^}}  "live": 52,
//
// Outside: four constants, four enters, the fetch are live: 9.
// In each of 4 iterations: two merges, p, loop_cond, two switches are live: 24.
// The exit is live once, dead 3 times. Pivot, one, i1, s1, two next_iterations are live 3 times, dead once.
// Live: 9 + 24 + 1 + 6 * 3. Dead: 3 + 6.
df.graph {
  %zero = pd.full {shape = [], value = 0, dtype = i64} : tensor<i64>
  %n = pd.full {shape = [], value = 3, dtype = i64} : tensor<i64>
  %c = pd.full {shape = [], value = 7, dtype = i64} : tensor<i64>
  %s0 = pd.full {shape = [], value = 100, dtype = i64} : tensor<i64>
  %ei = df.enter (%zero) {frame = "w"} : tensor<i64>
  %es = df.enter (%s0) {frame = "w"} : tensor<i64>
  %en = df.enter (%n) {frame = "w", constant = true} : tensor<i64>
  %ec = df.enter (%c) {frame = "w", constant = true} : tensor<i64>
  %mi, %ii = df.merge (%ei, %ni) : tensor<i64>, tensor<i32>
  %ms, %is = df.merge (%es, %ns) : tensor<i64>, tensor<i32>
  %p = pd.less_than (%mi, %en) : tensor<i1>
  %more = df.loop_cond (%p) : tensor<i1>
  %fi, %ti = df.switch (%mi, %more) : tensor<i64>, tensor<i64>
  %fs, %ts = df.switch (%ms, %more) : tensor<i64>, tensor<i64>
  %x = df.exit (%fs) : tensor<i64>
  %pivot = df.identity (%ti) : tensor<i64>
  %one = pd.full {shape = [], value = 1, dtype = i64} : tensor<i64>
  df.control (%one, %pivot)
  %i1 = pd.add (%ti, %one) : tensor<i64>
  %s1 = pd.add (%ts, %ec) : tensor<i64>
  %ni = df.next_iteration (%i1) : tensor<i64>
  %ns = df.next_iteration (%s1) : tensor<i64>
  pd.fetch (%x) {name = "s"}
}
