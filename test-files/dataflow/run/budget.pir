// A loop without end ends with its budget.
//
// RUN: not pir-run --dataflow --max-steps=1000 %s 2>&1 | FileCheck %s
//
// CHECK: the run did not end within 1000 steps
// CHECK: is the loop infinite?
df.graph {
  %x = pd.full {shape = [], value = 0, dtype = i64} : tensor<i64>
  %e = df.enter (%x) {frame = "w"} : tensor<i64>
  %m, %index = df.merge (%e, %next) : tensor<i64>, tensor<i32>
  %limit = pd.full {shape = [], value = 1, dtype = i64} : tensor<i64>
  df.control (%limit, %m)
  %p = pd.less_than (%m, %limit) : tensor<i1>
  %more = df.loop_cond (%p) : tensor<i1>
  %f, %t = df.switch (%m, %more) : tensor<i64>, tensor<i64>
  %out = df.exit (%f) : tensor<i64>
  %next = df.next_iteration (%t) : tensor<i64>
  pd.fetch (%out) {name = "x"}
}
