// RUN: pir-opt --pass=swap-stacks %s | FileCheck %s
// RUN: pir-opt --pass=swap-stacks{min-bytes=1000000} %s | FileCheck %s --check-prefix=SMALL
// Values that a loop records are swapped if they are large or of unknown size.
// SMALL: df.stack_push (%large_h, %large) : tensor<256x256xf32>
// SMALL: df.stack_push (%any_h, %any) {swap = true}

df.graph {
  %large_s = df.stack : df.stack
  %any_s = df.stack : df.stack
  %small_s = df.stack : df.stack
  %here_s = df.stack : df.stack
  %n = pd.data {name = "n", shape = [], dtype = i64} : tensor<i64>
  %x = pd.data {name = "x", shape = [256, 256], dtype = f32} : tensor<256x256xf32>
  %y = pd.data {name = "y", shape = [-1], dtype = f32} : tensor<?xf32>
  %large_h = df.enter (%large_s) {frame = "loop", constant = true} : df.stack
  %any_h = df.enter (%any_s) {frame = "loop", constant = true} : df.stack
  %small_h = df.enter (%small_s) {frame = "loop", constant = true} : df.stack
  %here_h = df.enter (%here_s) {frame = "loop", constant = true} : df.stack
  %x_in = df.enter (%x) {frame = "loop", constant = true} : tensor<256x256xf32>
  %y_in = df.enter (%y) {frame = "loop", constant = true} : tensor<?xf32>
  %enter = df.enter (%n) {frame = "loop"} : tensor<i64>
  %i, %from = df.merge (%enter, %next) : tensor<i64>, tensor<i32>
  %zero = pd.full {shape = [], value = 0, dtype = i64} : tensor<i64>
  df.control (%zero, %i)
  %more = pd.greater_than (%i, %zero) : tensor<i1>
  %go = df.loop_cond (%more) : tensor<i1>
  %last, %current = df.switch (%i, %go) : tensor<i64>, tensor<i64>
  %end = df.exit (%last) : tensor<i64>
  %pivot = df.identity (%current) : tensor<i64>
  %large = pd.tanh (%x_in) : tensor<256x256xf32>
  df.control (%large, %pivot)
  %any = pd.tanh (%y_in) : tensor<?xf32>
  df.control (%any, %pivot)
  // CHECK: df.stack_push (%large_h, %large) {swap = true} : tensor<256x256xf32>
  %pushed = df.stack_push (%large_h, %large) : tensor<256x256xf32>
  // CHECK: df.stack_push (%any_h, %any) {swap = true} : tensor<?xf32>
  %any_pushed = df.stack_push (%any_h, %any) : tensor<?xf32>
  // CHECK: df.stack_push (%small_h, %current) : tensor<i64>
  %small_pushed = df.stack_push (%small_h, %current) : tensor<i64>
  // What is popped in the same iteration is not worth moving.
  // CHECK: df.stack_push (%here_h, %large) : tensor<256x256xf32>
  %here_pushed = df.stack_push (%here_h, %large) : tensor<256x256xf32>
  %here = df.stack_pop (%here_h) : tensor<256x256xf32>
  df.control (%here, %here_pushed)
  %less = pd.increment (%current) {value = -1.0} : tensor<i64>
  %next = df.next_iteration (%less) : tensor<i64>
  df.control (%next, %pushed, %any_pushed, %small_pushed, %here)
  %large_p = df.stack_pop (%large_s) : tensor<256x256xf32>
  df.control (%large_p, %end)
  %any_p = df.stack_pop (%any_s) : tensor<?xf32>
  df.control (%any_p, %end)
  %small_p = df.stack_pop (%small_s) : tensor<i64>
  df.control (%small_p, %end)
  pd.fetch (%large_p) {name = "large"}
  pd.fetch (%any_p) {name = "any"}
  pd.fetch (%small_p) {name = "small"}
}
