// RUN: pir-opt --pass=place %s | FileCheck %s
// Rules come before what is asked for: what belongs to a merge is where it is, a switch where its data is, an exit where
// its switch is; constant enters are copied, or removed if nobody reads them.

df.graph {
  %start = pd.full {shape = [], value = 0, dtype = i64, device = 0} : tensor<i64>
  %limit = pd.data {name = "limit", shape = [], dtype = i64, device = 1} : tensor<i64>
  %ten = df.enter (%limit) {frame = "loop", constant = true, device = 0} : tensor<i64>
  %unread = df.enter (%limit) {frame = "loop", constant = true, device = 0} : tensor<i64>
  %i_enter = df.enter (%start) {frame = "loop", device = 0} : tensor<i64>
  %i, %from = df.merge (%i_enter, %next) {device = 1} : tensor<i64>, tensor<i32>
  %less = pd.less_than (%i, %ten) {device = 0} : tensor<i1>
  %go = df.loop_cond (%less) {device = 0} : tensor<i1>
  %last, %current = df.switch (%i, %go) {device = 0} : tensor<i64>, tensor<i64>
  %i_end = df.exit (%last) {device = 0} : tensor<i64>
  %sum = pd.add (%current, %ten) {device = 1} : tensor<i64>
  %next = df.next_iteration (%sum) {device = 0} : tensor<i64>
  pd.fetch (%i_end) {name = "i"}
}

// NOTE: checks below are generated; regenerate with BLESS=1
// CHECK: // Rules come before what is asked for: what belongs to a merge is where it is, a switch where its data is, an exit where
// CHECK-NEXT: // its switch is; constant enters are copied, or removed if nobody reads them.
// CHECK-NEXT: df.graph {
// CHECK-NEXT:   %start = pd.full {shape = [], value = 0, dtype = i64, device = 0} : tensor<i64>
// CHECK-NEXT:   %limit = pd.data {name = "limit", shape = [], dtype = i64, device = 1} : tensor<i64>
// CHECK-NEXT:   %ten = df.enter (%limit) {frame = "loop", constant = true, device = 0} : tensor<i64>
// CHECK-NEXT:   %ten_1 = df.enter (%limit) {frame = "loop", constant = true, device = 1} : tensor<i64>
// CHECK-NEXT:   %i_enter = df.enter (%start) {frame = "loop", device = 1} : tensor<i64>
// CHECK-NEXT:   %i, %from = df.merge (%i_enter, %next) {device = 1} : tensor<i64>, tensor<i32>
// CHECK-NEXT:   %less = pd.less_than (%i, %ten) {device = 0} : tensor<i1>
// CHECK-NEXT:   %go = df.loop_cond (%less) {device = 0} : tensor<i1>
// CHECK-NEXT:   %last, %current = df.switch (%i, %go) {device = 1} : tensor<i64>, tensor<i64>
// CHECK-NEXT:   %i_end = df.exit (%last) {device = 1} : tensor<i64>
// CHECK-NEXT:   %sum = pd.add (%current, %ten_1) {device = 1} : tensor<i64>
// CHECK-NEXT:   %next = df.next_iteration (%sum) {device = 1} : tensor<i64>
// CHECK-NEXT:   pd.fetch (%i_end) {name = "i", device = 0}
// CHECK-NEXT: }
