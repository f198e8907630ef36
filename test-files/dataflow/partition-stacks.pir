// RUN: pir-opt --pass=partition %s | FileCheck %s
// RUN: pir-opt --pass=partition %s | pir-run --dataflow --schedule-seed 1 - --input n=3 | FileCheck %s --check-prefix=POPPED
// All that has to do with a stack is on the device of the stack, whatever it asks for.

// POPPED: last = tensor<i64> 1

df.graph {
  %s = df.stack {device = 1} : df.stack
  %n = pd.data {name = "n", shape = [], dtype = i64, device = 0} : tensor<i64>
  %handle = df.enter (%s) {frame = "loop", constant = true, device = 0} : df.stack
  %enter = df.enter (%n) {frame = "loop", device = 0} : tensor<i64>
  %i, %from = df.merge (%enter, %next) {device = 0} : tensor<i64>, tensor<i32>
  %zero = pd.full {shape = [], value = 0, dtype = i64, device = 0} : tensor<i64>
  df.control (%zero, %i)
  %more = pd.greater_than (%i, %zero) {device = 0} : tensor<i1>
  %go = df.loop_cond (%more) {device = 0} : tensor<i1>
  %last, %current = df.switch (%i, %go) {device = 0} : tensor<i64>, tensor<i64>
  %end = df.exit (%last) {device = 0} : tensor<i64>
  %pushed = df.stack_push (%handle, %current) {device = 0} : tensor<i64>
  %less = pd.increment (%current) {value = -1.0, device = 0} : tensor<i64>
  %next = df.next_iteration (%less) {device = 0} : tensor<i64>
  df.control (%next, %pushed)
  %popped = df.stack_pop (%s) {device = 0} : tensor<i64>
  df.control (%popped, %end)
  pd.fetch (%popped) {name = "last", device = 0}
}

// NOTE: checks below are generated; regenerate with BLESS=1
// CHECK: // All that has to do with a stack is on the device of the stack, whatever it asks for.
// CHECK-NEXT: df.graph {device = 0} {
// CHECK-NEXT:   %n = pd.data {name = "n", shape = [], dtype = i64} : tensor<i64>
// CHECK-NEXT:   %enter = df.enter (%n) {frame = "loop"} : tensor<i64>
// CHECK-NEXT:   %i, %from = df.merge (%enter, %next) : tensor<i64>, tensor<i32>
// CHECK-NEXT:   %zero = pd.full {shape = [], value = 0, dtype = i64} : tensor<i64>
// CHECK-NEXT:   df.control (%zero, %i)
// CHECK-NEXT:   %more = pd.greater_than (%i, %zero) : tensor<i1>
// CHECK-NEXT:   %go = df.loop_cond (%more) : tensor<i1>
// CHECK-NEXT:   %sent = df.send (%go) {key = "go_0", from = 0, to = 1} : df.control
// CHECK-NEXT:   %last, %current = df.switch (%i, %go) : tensor<i64>, tensor<i64>
// CHECK-NEXT:   %sent_1 = df.send (%current) {key = "current_1", from = 0, to = 1} : df.control
// CHECK-NEXT:   %end = df.exit (%last) : tensor<i64>
// CHECK-NEXT:   %zero_1 = pd.full {shape = [], value = 0, dtype = i32} : tensor<i32>
// CHECK-NEXT:   df.control (%zero_1, %end)
// CHECK-NEXT:   %sent_2 = df.send (%zero_1) {key = "after_end_2", from = 0, to = 1} : df.control
// CHECK-NEXT:   %less = pd.increment (%current) {value = -1.0} : tensor<i64>
// CHECK-NEXT:   %token = df.recv {key = "after_pushed_3", from = 1, to = 0} : tensor<i32>
// CHECK-NEXT:   df.control (%token, %i)
// CHECK-NEXT:   %token_done = df.identity (%token) : tensor<i32>
// CHECK-NEXT:   %next = df.next_iteration (%less) : tensor<i64>
// CHECK-NEXT:   df.control (%next, %token_done)
// CHECK-NEXT:   %popped = df.recv {key = "popped_4", from = 1, to = 0} : tensor<i64>
// CHECK-NEXT:   pd.fetch (%popped) {name = "last"}
// CHECK-NEXT: }
// CHECK-NEXT: df.graph {device = 1} {
// CHECK-NEXT:   %s = df.stack () : df.stack
// CHECK-NEXT:   %handle = df.enter (%s) {frame = "loop", constant = true} : df.stack
// CHECK-NEXT:   %zero = pd.full {shape = [], value = 0, dtype = i32} : tensor<i32>
// CHECK-NEXT:   %first_step = df.enter (%zero) {frame = "loop"} : tensor<i32>
// CHECK-NEXT:   %step, %step_from = df.merge (%first_step, %next_step) : tensor<i32>, tensor<i32>
// CHECK-NEXT:   %go = df.recv {key = "go_0", from = 0, to = 1} : tensor<i1>
// CHECK-NEXT:   df.control (%go, %step)
// CHECK-NEXT:   %stopped, %running = df.switch (%step, %go) : tensor<i32>, tensor<i32>
// CHECK-NEXT:   %next_step = df.next_iteration (%running) : tensor<i32>
// CHECK-NEXT:   %current = df.recv {key = "current_1", from = 0, to = 1} : tensor<i64>
// CHECK-NEXT:   df.control (%current, %step)
// CHECK-NEXT:   %pushed = df.stack_push (%handle, %current) : tensor<i64>
// CHECK-NEXT:   %zero_1 = pd.full {shape = [], value = 0, dtype = i32} : tensor<i32>
// CHECK-NEXT:   df.control (%zero_1, %pushed)
// CHECK-NEXT:   %sent = df.send (%zero_1) {key = "after_pushed_3", from = 1, to = 0} : df.control
// CHECK-NEXT:   %token = df.recv {key = "after_end_2", from = 0, to = 1} : tensor<i32>
// CHECK-NEXT:   %token_done = df.identity (%token) : tensor<i32>
// CHECK-NEXT:   %popped = df.stack_pop (%s) : tensor<i64>
// CHECK-NEXT:   df.control (%popped, %token_done)
// CHECK-NEXT:   %sent_1 = df.send (%popped) {key = "popped_4", from = 1, to = 0} : df.control
// CHECK-NEXT: }
