// RUN: pir-opt --pass=shrink-stacks %s | FileCheck %s
// The sum of what is popped is all that is read: it is recorded in the loop. What reads the
// pushed value then reads the value, and still waits for the push. What is read whole, or in two ways, stays.

df.graph {
  %sums = df.stack : df.stack
  %wholes = df.stack : df.stack
  %n = pd.data {name = "n", shape = [], dtype = i64} : tensor<i64>
  %x = pd.data {name = "x", shape = [-1], dtype = f32} : tensor<?xf32>
  %sums_h = df.enter (%sums) {frame = "loop", constant = true} : df.stack
  %wholes_h = df.enter (%wholes) {frame = "loop", constant = true} : df.stack
  %x_in = df.enter (%x) {frame = "loop", constant = true} : tensor<?xf32>
  %enter = df.enter (%n) {frame = "loop"} : tensor<i64>
  %i, %from = df.merge (%enter, %next) : tensor<i64>, tensor<i32>
  %zero = pd.full {shape = [], value = 0, dtype = i64} : tensor<i64>
  df.control (%zero, %i)
  %more = pd.greater_than (%i, %zero) : tensor<i1>
  %go = df.loop_cond (%more) : tensor<i1>
  %last, %current = df.switch (%i, %go) : tensor<i64>, tensor<i64>
  %end = df.exit (%last) : tensor<i64>
  %pivot = df.identity (%current) : tensor<i64>
  %t = pd.tanh (%x_in) : tensor<?xf32>
  df.control (%t, %pivot)
  // CHECK: [[SUM:%.*]] = pd.sum (%t) : tensor<f32>
  // CHECK-NEXT: %pushed = df.stack_push (%sums_h, [[SUM]]) : tensor<f32>
  %pushed = df.stack_push (%sums_h, %t) : tensor<?xf32>
  // CHECK-NEXT: %after = pd.shape (%t) : tensor<1xi64>
  // CHECK-NEXT: df.control (%after, %pushed)
  %after = pd.shape (%pushed) : tensor<1xi64>
  // CHECK-NEXT: df.stack_push (%wholes_h, %t) : tensor<?xf32>
  %whole_pushed = df.stack_push (%wholes_h, %t) : tensor<?xf32>
  %less = pd.increment (%current) {value = -1.0} : tensor<i64>
  %next = df.next_iteration (%less) : tensor<i64>
  df.control (%next, %after, %whole_pushed)
  // CHECK: %sum = df.stack_pop (%sums) : tensor<f32>
  // CHECK-NEXT: df.control (%sum, %end)
  %popped = df.stack_pop (%sums) : tensor<?xf32>
  df.control (%popped, %end)
  // CHECK-NOT: pd.sum (%sum)
  %sum = pd.sum (%popped) : tensor<f32>
  // CHECK: %whole = df.stack_pop (%wholes) : tensor<?xf32>
  %whole = df.stack_pop (%wholes) : tensor<?xf32>
  df.control (%whole, %end)
  // CHECK: pd.sum (%whole)
  %sum_2 = pd.sum (%whole) : tensor<f32>
  %max = pd.max (%whole) : tensor<f32>
  pd.fetch (%sum) {name = "sum"}
  pd.fetch (%sum_2) {name = "sum_2"}
  pd.fetch (%max) {name = "max"}
}
