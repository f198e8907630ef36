// The gradient of a loop constant: from k = 3 down, the parts 2 * k are added up as they come.
//
// RUN: pir-run --dataflow --stats %s 2>&1 | FileCheck %s
//
// CHECK: g = tensor<i64> 12
// CHECK: {{^}}  "dead": 10,
// CHECK: {{^}}  "live": 57,
//
// Outside: n, g0, c, three enters, the fetch are live: 7.
// In each of 4 iterations: two merges, none, q, loop_cond, two switches are live: 28. The exit is live once, dead 3 times.
// Pivot, one, k1, the part, g1, two next_iterations are live 3 times, dead once.
// Live: 7 + 28 + 1 + 7 * 3. Dead: 3 + 7.
df.graph {
  %n = pd.full {shape = [], value = 3, dtype = i64} : tensor<i64>
  %g0 = pd.full {shape = [], value = 0, dtype = i64} : tensor<i64>
  %c = pd.full {shape = [], value = 2, dtype = i64} : tensor<i64>
  %ek = df.enter (%n) {frame = "grad"} : tensor<i64>
  %eg = df.enter (%g0) {frame = "grad"} : tensor<i64>
  %ec = df.enter (%c) {frame = "grad", constant = true} : tensor<i64>
  %mk, %ik = df.merge (%ek, %nk) : tensor<i64>, tensor<i32>
  %mg, %ig = df.merge (%eg, %ng) : tensor<i64>, tensor<i32>
  %none = pd.full {shape = [], value = 0, dtype = i64} : tensor<i64>
  df.control (%none, %mk)
  %q = pd.greater_than (%mk, %none) : tensor<i1>
  %more = df.loop_cond (%q) : tensor<i1>
  %fk, %tk = df.switch (%mk, %more) : tensor<i64>, tensor<i64>
  %fg, %tg = df.switch (%mg, %more) : tensor<i64>, tensor<i64>
  %g = df.exit (%fg) : tensor<i64>
  %pivot = df.identity (%tk) : tensor<i64>
  %one = pd.full {shape = [], value = 1, dtype = i64} : tensor<i64>
  df.control (%one, %pivot)
  %k1 = pd.subtract (%tk, %one) : tensor<i64>
  %part = pd.multiply (%tk, %ec) : tensor<i64>
  %g1 = pd.add (%tg, %part) : tensor<i64>
  %nk = df.next_iteration (%k1) : tensor<i64>
  %ng = df.next_iteration (%g1) : tensor<i64>
  pd.fetch (%g) {name = "g"}
}
