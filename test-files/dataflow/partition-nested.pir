// RUN: pir-opt --pass=partition{devices=3} %s | FileCheck %s
// RUN: pir-opt --pass=partition{devices=3} %s | pir-run --dataflow --schedule-seed 1 - --input start=1 --input limit=10 | FileCheck %s --check-prefix=ONCE
// RUN: pir-opt --pass=partition{devices=3} %s | pir-run --dataflow --schedule-seed 1 - --input start=20 --input limit=10 | FileCheck %s --check-prefix=NEVER
// Device 1 takes part in both loops: it has a state machine for each, and the one of the inner loop is entered in every
// iteration of the outer one. Device 2 has a node of the outer loop only.

// ONCE: x = tensor<i64> 12
// NEVER: x = tensor<i64> 20

df.graph {
  %start = pd.data {name = "start", shape = [], dtype = i64, device = 0} : tensor<i64>
  %limit = pd.data {name = "limit", shape = [], dtype = i64, device = 0} : tensor<i64>
  %limit_outer = df.enter (%limit) {frame = "outer", constant = true} : tensor<i64>
  %limit_inner = df.enter (%limit_outer) {frame = "inner", constant = true} : tensor<i64>
  %x_enter = df.enter (%start) {frame = "outer", parallel_iterations = 4} : tensor<i64>
  %x, %x_from = df.merge (%x_enter, %x_next) {device = 0} : tensor<i64>, tensor<i32>
  %x_less = pd.less_than (%x, %limit_outer) {device = 0} : tensor<i1>
  %x_go = df.loop_cond (%x_less) {device = 0} : tensor<i1>
  %x_last, %x_body = df.switch (%x, %x_go) : tensor<i64>, tensor<i64>
  %x_end = df.exit (%x_last) : tensor<i64>
  %twice = pd.add (%x_body, %x_body) {device = 2} : tensor<i64>
  %y_enter = df.enter (%twice) {frame = "inner"} : tensor<i64>
  %y, %y_from = df.merge (%y_enter, %y_next) {device = 0} : tensor<i64>, tensor<i32>
  %y_less = pd.less_than (%y, %limit_inner) {device = 0} : tensor<i1>
  %y_go = df.loop_cond (%y_less) {device = 0} : tensor<i1>
  %y_last, %y_body = df.switch (%y, %y_go) : tensor<i64>, tensor<i64>
  %y_end = df.exit (%y_last) : tensor<i64>
  %y_sum = pd.add (%y_body, %limit_inner) {device = 1} : tensor<i64>
  %y_next = df.next_iteration (%y_sum) : tensor<i64>
  %x_next = df.next_iteration (%y_end) : tensor<i64>
  pd.fetch (%x_end) {name = "x", device = 0}
}

// NOTE: checks below are generated; regenerate with BLESS=1
// CHECK: // Device 1 takes part in both loops: it has a state machine for each, and the one of the inner loop is entered in every
// CHECK-NEXT: // iteration of the outer one. Device 2 has a node of the outer loop only.
// CHECK-NEXT: df.graph {device = 0} {
// CHECK-NEXT:   %start = pd.data {name = "start", shape = [], dtype = i64} : tensor<i64>
// CHECK-NEXT:   %limit = pd.data {name = "limit", shape = [], dtype = i64} : tensor<i64>
// CHECK-NEXT:   %sent = df.send (%limit) {key = "limit_0", from = 0, to = 1} : df.control
// CHECK-NEXT:   %limit_outer = df.enter (%limit) {frame = "outer", constant = true} : tensor<i64>
// CHECK-NEXT:   %limit_inner = df.enter (%limit_outer) {frame = "inner", constant = true} : tensor<i64>
// CHECK-NEXT:   %x_enter = df.enter (%start) {frame = "outer", parallel_iterations = 4} : tensor<i64>
// CHECK-NEXT:   %x, %x_from = df.merge (%x_enter, %x_next) : tensor<i64>, tensor<i32>
// CHECK-NEXT:   %x_less = pd.less_than (%x, %limit_outer) : tensor<i1>
// CHECK-NEXT:   %x_go = df.loop_cond (%x_less) : tensor<i1>
// CHECK-NEXT:   %sent_1 = df.send (%x_go) {key = "x_go_1", from = 0, to = 1} : df.control
// CHECK-NEXT:   %sent_2 = df.send (%x_go) {key = "x_go_2", from = 0, to = 2} : df.control
// CHECK-NEXT:   %x_last, %x_body = df.switch (%x, %x_go) : tensor<i64>, tensor<i64>
// CHECK-NEXT:   %sent_3 = df.send (%x_body) {key = "x_body_3", from = 0, to = 2} : df.control
// CHECK-NEXT:   %x_end = df.exit (%x_last) : tensor<i64>
// CHECK-NEXT:   %twice = df.recv {key = "twice_4", from = 2, to = 0} : tensor<i64>
// CHECK-NEXT:   df.control (%twice, %x)
// CHECK-NEXT:   %y_enter = df.enter (%twice) {frame = "inner"} : tensor<i64>
// CHECK-NEXT:   %y, %y_from = df.merge (%y_enter, %y_next) : tensor<i64>, tensor<i32>
// CHECK-NEXT:   %y_less = pd.less_than (%y, %limit_inner) : tensor<i1>
// CHECK-NEXT:   %y_go = df.loop_cond (%y_less) : tensor<i1>
// CHECK-NEXT:   %sent_4 = df.send (%y_go) {key = "y_go_5", from = 0, to = 1} : df.control
// CHECK-NEXT:   %y_last, %y_body = df.switch (%y, %y_go) : tensor<i64>, tensor<i64>
// CHECK-NEXT:   %sent_5 = df.send (%y_body) {key = "y_body_6", from = 0, to = 1} : df.control
// CHECK-NEXT:   %y_end = df.exit (%y_last) : tensor<i64>
// CHECK-NEXT:   %y_sum = df.recv {key = "y_sum_7", from = 1, to = 0} : tensor<i64>
// CHECK-NEXT:   df.control (%y_sum, %y)
// CHECK-NEXT:   %y_next = df.next_iteration (%y_sum) : tensor<i64>
// CHECK-NEXT:   %x_next = df.next_iteration (%y_end) : tensor<i64>
// CHECK-NEXT:   pd.fetch (%x_end) {name = "x"}
// CHECK-NEXT: }
// CHECK-NEXT: df.graph {device = 1} {
// CHECK-NEXT:   %limit = df.recv {key = "limit_0", from = 0, to = 1} : tensor<i64>
// CHECK-NEXT:   %limit_outer = df.enter (%limit) {frame = "outer", constant = true} : tensor<i64>
// CHECK-NEXT:   %limit_inner = df.enter (%limit_outer) {frame = "inner", constant = true} : tensor<i64>
// CHECK-NEXT:   %zero = pd.full {shape = [], value = 0, dtype = i32} : tensor<i32>
// CHECK-NEXT:   %first_step = df.enter (%zero) {frame = "outer", parallel_iterations = 4} : tensor<i32>
// CHECK-NEXT:   %step, %step_from = df.merge (%first_step, %next_step) : tensor<i32>, tensor<i32>
// CHECK-NEXT:   %x_go = df.recv {key = "x_go_1", from = 0, to = 1} : tensor<i1>
// CHECK-NEXT:   df.control (%x_go, %step)
// CHECK-NEXT:   %stopped, %running = df.switch (%step, %x_go) : tensor<i32>, tensor<i32>
// CHECK-NEXT:   %next_step = df.next_iteration (%running) : tensor<i32>
// CHECK-NEXT:   %zero_1 = pd.full {shape = [], value = 0, dtype = i32} : tensor<i32>
// CHECK-NEXT:   df.control (%zero_1, %step)
// CHECK-NEXT:   %first_step_1 = df.enter (%zero_1) {frame = "inner"} : tensor<i32>
// CHECK-NEXT:   %step_1, %step_from_1 = df.merge (%first_step_1, %next_step_1) : tensor<i32>, tensor<i32>
// CHECK-NEXT:   %y_go = df.recv {key = "y_go_5", from = 0, to = 1} : tensor<i1>
// CHECK-NEXT:   df.control (%y_go, %step_1)
// CHECK-NEXT:   %stopped_1, %running_1 = df.switch (%step_1, %y_go) : tensor<i32>, tensor<i32>
// CHECK-NEXT:   %next_step_1 = df.next_iteration (%running_1) : tensor<i32>
// CHECK-NEXT:   %y_body = df.recv {key = "y_body_6", from = 0, to = 1} : tensor<i64>
// CHECK-NEXT:   df.control (%y_body, %step_1)
// CHECK-NEXT:   %y_sum = pd.add (%y_body, %limit_inner) : tensor<i64>
// CHECK-NEXT:   %sent = df.send (%y_sum) {key = "y_sum_7", from = 1, to = 0} : df.control
// CHECK-NEXT: }
// CHECK-NEXT: df.graph {device = 2} {
// CHECK-NEXT:   %zero = pd.full {shape = [], value = 0, dtype = i32} : tensor<i32>
// CHECK-NEXT:   %first_step = df.enter (%zero) {frame = "outer", parallel_iterations = 4} : tensor<i32>
// CHECK-NEXT:   %step, %step_from = df.merge (%first_step, %next_step) : tensor<i32>, tensor<i32>
// CHECK-NEXT:   %x_go = df.recv {key = "x_go_2", from = 0, to = 2} : tensor<i1>
// CHECK-NEXT:   df.control (%x_go, %step)
// CHECK-NEXT:   %stopped, %running = df.switch (%step, %x_go) : tensor<i32>, tensor<i32>
// CHECK-NEXT:   %next_step = df.next_iteration (%running) : tensor<i32>
// CHECK-NEXT:   %x_body = df.recv {key = "x_body_3", from = 0, to = 2} : tensor<i64>
// CHECK-NEXT:   df.control (%x_body, %step)
// CHECK-NEXT:   %twice = pd.add (%x_body, %x_body) : tensor<i64>
// CHECK-NEXT:   %sent = df.send (%twice) {key = "twice_4", from = 2, to = 0} : df.control
// CHECK-NEXT: }
