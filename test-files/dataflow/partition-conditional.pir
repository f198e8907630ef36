// RUN: pir-opt --pass=partition %s | FileCheck %s
// RUN: pir-opt --pass=partition %s | pir-run --dataflow --schedule-seed 1 - --input x=1 --input y=2 --input z=3 | FileCheck %s --check-prefix=TRUE
// RUN: pir-opt --pass=partition %s | pir-run --dataflow --schedule-seed 1 - --input x=7 --input y=5 --input z=3 | FileCheck %s --check-prefix=FALSE
// A branch with an operation on another device: that it is not taken is sent.

// TRUE: r = tensor<f32> 4
// FALSE: r = tensor<f32> 25

df.graph {
  %x = pd.data {name = "x", shape = [], dtype = f32, device = 0} : tensor<f32>
  %y = pd.data {name = "y", shape = [], dtype = f32, device = 0} : tensor<f32>
  %z = pd.data {name = "z", shape = [], dtype = f32, device = 0} : tensor<f32>
  %p = pd.less_than (%x, %y) {device = 0} : tensor<i1>
  %x_false, %x_true = df.switch (%x, %p) : tensor<f32>, tensor<f32>
  %y_false, %y_true = df.switch (%y, %p) : tensor<f32>, tensor<f32>
  %z_false, %z_true = df.switch (%z, %p) : tensor<f32>, tensor<f32>
  %sum = pd.add (%x_true, %z_true) {device = 1} : tensor<f32>
  %square = pd.square (%y_false) {device = 0} : tensor<f32>
  %r, %which = df.merge (%square, %sum) {device = 0} : tensor<f32>, tensor<i32>
  pd.fetch (%r) {name = "r", device = 0}
}

// NOTE: checks below are generated; regenerate with BLESS=1
// CHECK: // A branch with an operation on another device: that it is not taken is sent.
// CHECK-NEXT: df.graph {device = 0} {
// CHECK-NEXT:   %x = pd.data {name = "x", shape = [], dtype = f32} : tensor<f32>
// CHECK-NEXT:   %y = pd.data {name = "y", shape = [], dtype = f32} : tensor<f32>
// CHECK-NEXT:   %z = pd.data {name = "z", shape = [], dtype = f32} : tensor<f32>
// CHECK-NEXT:   %p = pd.less_than (%x, %y) : tensor<i1>
// CHECK-NEXT:   %x_false, %x_true = df.switch (%x, %p) : tensor<f32>, tensor<f32>
// CHECK-NEXT:   %sent = df.send (%x_true) {key = "x_true_0", from = 0, to = 1} : df.control
// CHECK-NEXT:   %y_false, %y_true = df.switch (%y, %p) : tensor<f32>, tensor<f32>
// CHECK-NEXT:   %z_false, %z_true = df.switch (%z, %p) : tensor<f32>, tensor<f32>
// CHECK-NEXT:   %sent_1 = df.send (%z_true) {key = "z_true_1", from = 0, to = 1} : df.control
// CHECK-NEXT:   %square = pd.square (%y_false) : tensor<f32>
// CHECK-NEXT:   %sum = df.recv {key = "sum_2", from = 1, to = 0} : tensor<f32>
// CHECK-NEXT:   %r, %which = df.merge (%square, %sum) : tensor<f32>, tensor<i32>
// CHECK-NEXT:   pd.fetch (%r) {name = "r"}
// CHECK-NEXT: }
// CHECK-NEXT: df.graph {device = 1} {
// CHECK-NEXT:   %x_true = df.recv {key = "x_true_0", from = 0, to = 1} : tensor<f32>
// CHECK-NEXT:   %z_true = df.recv {key = "z_true_1", from = 0, to = 1} : tensor<f32>
// CHECK-NEXT:   %sum = pd.add (%x_true, %z_true) : tensor<f32>
// CHECK-NEXT:   %sent = df.send (%sum) {key = "sum_2", from = 1, to = 0} : df.control
// CHECK-NEXT: }
