// RUN: pir-opt --pass=partition %s | FileCheck %s
// Control edges between devices: a token is sent, and an identity hands on whether it is dead, since the control edges of
// a recv are alive. A value that is sent anyway tells as well that its node has run; not the results of a switch, which may be
// dead while its control edges are not. A node is told once.

df.graph {
  %x = pd.data {name = "x", shape = [], dtype = f32, device = 0} : tensor<f32>
  %p = pd.data {name = "p", shape = [], dtype = i1, device = 0} : tensor<i1>
  %first = df.no_op {device = 0} : df.control
  %a = pd.tanh (%x) {device = 0} : tensor<f32>
  %off, %on = df.switch (%x, %p) {device = 0} : tensor<f32>, tensor<f32>
  %b = pd.exp (%a) {device = 1} : tensor<f32>
  df.control (%b, %first)
  %c = pd.full {shape = [], value = 2, dtype = f32, device = 1} : tensor<f32>
  df.control (%c, %first, %a)
  %d = pd.add (%b, %on) {device = 1} : tensor<f32>
  df.control (%d, %off, %c)
  pd.fetch (%d) {name = "d", device = 1}
}

// NOTE: checks below are generated; regenerate with BLESS=1
// CHECK: // Control edges between devices: a token is sent, and an identity hands on whether it is dead, since the control edges of
// CHECK-NEXT: // a recv are alive. A value that is sent anyway tells as well that its node has run; not the results of a switch, which may be
// CHECK-NEXT: // dead while its control edges are not. A node is told once.
// CHECK-NEXT: df.graph {device = 0} {
// CHECK-NEXT:   %x = pd.data {name = "x", shape = [], dtype = f32} : tensor<f32>
// CHECK-NEXT:   %p = pd.data {name = "p", shape = [], dtype = i1} : tensor<i1>
// CHECK-NEXT:   %first = df.no_op () : df.control
// CHECK-NEXT:   %zero = pd.full {shape = [], value = 0, dtype = i32} : tensor<i32>
// CHECK-NEXT:   df.control (%zero, %first)
// CHECK-NEXT:   %sent = df.send (%zero) {key = "after_first_0", from = 0, to = 1} : df.control
// CHECK-NEXT:   %a = pd.tanh (%x) : tensor<f32>
// CHECK-NEXT:   %sent_1 = df.send (%a) {key = "a_1", from = 0, to = 1} : df.control
// CHECK-NEXT:   %off, %on = df.switch (%x, %p) : tensor<f32>, tensor<f32>
// CHECK-NEXT:   %sent_2 = df.send (%on) {key = "on_2", from = 0, to = 1} : df.control
// CHECK-NEXT:   %zero_1 = pd.full {shape = [], value = 0, dtype = i32} : tensor<i32>
// CHECK-NEXT:   df.control (%zero_1, %off)
// CHECK-NEXT:   %sent_3 = df.send (%zero_1) {key = "after_off_3", from = 0, to = 1} : df.control
// CHECK-NEXT: }
// CHECK-NEXT: df.graph {device = 1} {
// CHECK-NEXT:   %a = df.recv {key = "a_1", from = 0, to = 1} : tensor<f32>
// CHECK-NEXT:   %token = df.recv {key = "after_first_0", from = 0, to = 1} : tensor<i32>
// CHECK-NEXT:   %token_done = df.identity (%token) : tensor<i32>
// CHECK-NEXT:   %b = pd.exp (%a) : tensor<f32>
// CHECK-NEXT:   df.control (%b, %token_done)
// CHECK-NEXT:   %a_done = df.identity (%a) : tensor<f32>
// CHECK-NEXT:   %c = pd.full {shape = [], value = 2, dtype = f32} : tensor<f32>
// CHECK-NEXT:   df.control (%c, %token_done, %a_done)
// CHECK-NEXT:   %on = df.recv {key = "on_2", from = 0, to = 1} : tensor<f32>
// CHECK-NEXT:   %token_1 = df.recv {key = "after_off_3", from = 0, to = 1} : tensor<i32>
// CHECK-NEXT:   %token_done_1 = df.identity (%token_1) : tensor<i32>
// CHECK-NEXT:   %d = pd.add (%b, %on) : tensor<f32>
// CHECK-NEXT:   df.control (%d, %token_done_1, %c)
// CHECK-NEXT:   pd.fetch (%d) {name = "d"}
// CHECK-NEXT: }
