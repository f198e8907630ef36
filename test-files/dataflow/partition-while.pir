// RUN: pir-opt --pass=partition %s | FileCheck %s
// RUN: pir-opt --pass=partition %s | pir-run --dataflow --schedule-seed 1 -  | FileCheck %s --check-prefix=TEN
// The body of a loop has an operation on another device, which gets a state machine that receives the condition.

// TEN: i = tensor<i64> 10

df.graph {
  %start = pd.full {shape = [], value = 0, dtype = i64, device = 0} : tensor<i64>
  %i_enter = df.enter (%start) {frame = "loop"} : tensor<i64>
  %i, %from = df.merge (%i_enter, %next) {device = 0} : tensor<i64>, tensor<i32>
  %ten = pd.full {shape = [], value = 10, dtype = i64, device = 0} : tensor<i64>
  df.control (%ten, %i)
  %less = pd.less_than (%i, %ten) {device = 0} : tensor<i1>
  %go = df.loop_cond (%less) {device = 0} : tensor<i1>
  %last, %current = df.switch (%i, %go) : tensor<i64>, tensor<i64>
  %i_end = df.exit (%last) : tensor<i64>
  %pivot = df.identity (%current) {device = 0} : tensor<i64>
  %one = pd.full {shape = [], value = 1, dtype = i64, device = 1} : tensor<i64>
  df.control (%one, %pivot)
  %sum = pd.add (%current, %one) {device = 1} : tensor<i64>
  %next = df.next_iteration (%sum) {device = 1} : tensor<i64>
  pd.fetch (%i_end) {name = "i", device = 0}
}

// NOTE: checks below are generated; regenerate with BLESS=1
// CHECK: // The body of a loop has an operation on another device, which gets a state machine that receives the condition.
// CHECK-NEXT: df.graph {device = 0} {
// CHECK-NEXT:   %start = pd.full {shape = [], value = 0, dtype = i64} : tensor<i64>
// CHECK-NEXT:   %i_enter = df.enter (%start) {frame = "loop"} : tensor<i64>
// CHECK-NEXT:   %i, %from = df.merge (%i_enter, %next) : tensor<i64>, tensor<i32>
// CHECK-NEXT:   %ten = pd.full {shape = [], value = 10, dtype = i64} : tensor<i64>
// CHECK-NEXT:   df.control (%ten, %i)
// CHECK-NEXT:   %less = pd.less_than (%i, %ten) : tensor<i1>
// CHECK-NEXT:   %go = df.loop_cond (%less) : tensor<i1>
// CHECK-NEXT:   %sent = df.send (%go) {key = "go_0", from = 0, to = 1} : df.control
// CHECK-NEXT:   %last, %current = df.switch (%i, %go) : tensor<i64>, tensor<i64>
// CHECK-NEXT:   %sent_1 = df.send (%current) {key = "current_1", from = 0, to = 1} : df.control
// CHECK-NEXT:   %i_end = df.exit (%last) : tensor<i64>
// CHECK-NEXT:   %pivot = df.identity (%current) : tensor<i64>
// CHECK-NEXT:   %sum = df.recv {key = "sum_2", from = 1, to = 0} : tensor<i64>
// CHECK-NEXT:   df.control (%sum, %i)
// CHECK-NEXT:   %next = df.next_iteration (%sum) : tensor<i64>
// CHECK-NEXT:   pd.fetch (%i_end) {name = "i"}
// CHECK-NEXT: }
// CHECK-NEXT: df.graph {device = 1} {
// CHECK-NEXT:   %zero = pd.full {shape = [], value = 0, dtype = i32} : tensor<i32>
// CHECK-NEXT:   %first_step = df.enter (%zero) {frame = "loop"} : tensor<i32>
// CHECK-NEXT:   %step, %step_from = df.merge (%first_step, %next_step) : tensor<i32>, tensor<i32>
// CHECK-NEXT:   %go = df.recv {key = "go_0", from = 0, to = 1} : tensor<i1>
// CHECK-NEXT:   df.control (%go, %step)
// CHECK-NEXT:   %stopped, %running = df.switch (%step, %go) : tensor<i32>, tensor<i32>
// CHECK-NEXT:   %next_step = df.next_iteration (%running) : tensor<i32>
// CHECK-NEXT:   %pivot = df.identity (%running) : tensor<i32>
// CHECK-NEXT:   %one = pd.full {shape = [], value = 1, dtype = i64} : tensor<i64>
// CHECK-NEXT:   df.control (%one, %pivot)
// CHECK-NEXT:   %current = df.recv {key = "current_1", from = 0, to = 1} : tensor<i64>
// CHECK-NEXT:   df.control (%current, %step)
// CHECK-NEXT:   %sum = pd.add (%current, %one) : tensor<i64>
// CHECK-NEXT:   %sent = df.send (%sum) {key = "sum_2", from = 1, to = 0} : df.control
// CHECK-NEXT: }
