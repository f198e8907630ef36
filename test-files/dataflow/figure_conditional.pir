// RUN: pir-opt --pass=lower-to-dataflow %s | FileCheck %s
// The conditional of the specification: cond(x < y, x + z, square(y)). What a branch takes from outside passes a switch.

// CHECK:      %c = pd.less_than (%x, %y)
// CHECK-NEXT: %pred = df.identity (%c)
// CHECK-NEXT: %{{[0-9]+}}, [[X:%[0-9]+]] = df.switch (%x, %pred) : tensor<f32>, tensor<f32>
// CHECK-NEXT: %{{[0-9]+}}, [[Z:%[0-9]+]] = df.switch (%z, %pred)
// CHECK-NEXT: %sum = pd.add ([[X]], [[Z]])
// CHECK-NEXT: [[Y:%[0-9]+]], %{{[0-9]+}} = df.switch (%y, %pred)
// CHECK-NEXT: %square = pd.square ([[Y]])
// CHECK-NEXT: %r, %{{[0-9]+}} = df.merge (%square, %sum) : tensor<f32>, tensor<i32>
// CHECK-NEXT: pd.fetch (%r)
// CHECK-NOT:  pd.if
// CHECK-NOT:  df.control
%x = pd.data {name = "x", shape = [], dtype = f32}
%y = pd.data {name = "y", shape = [], dtype = f32}
%z = pd.data {name = "z", shape = [], dtype = f32}
%c = pd.less_than (%x, %y)
%r = pd.if (%c) then {
  %sum = pd.add (%x, %z)
  cf.yield (%sum)
} else {
  %square = pd.square (%y)
  cf.yield (%square)
}
pd.fetch (%r) {name = "r"}
