// RUN: pir-opt --pass=canonicalize %s | FileCheck %s

// The branch is known to be the first one; adding a zero to a float is not known to change nothing.

%x = pd.data {name = "x", shape = [2, 3], dtype = f32} : tensor<2x3xf32>
%one = pd.full {shape = [1], value = 1, dtype = i64} : tensor<1xi64>
%two = pd.full {shape = [1], value = 2, dtype = i64} : tensor<1xi64>
%zero = pd.full {shape = [1], value = 0.0, dtype = f32} : tensor<1xf32>
%c = pd.less_than (%one, %two) : tensor<1xi1>
%y = pd.if (%c) then {
  %a = pd.transpose (%x) {perm = [1, 0]} : tensor<3x2xf32>
  %b = pd.transpose (%a) {perm = [1, 0]} : tensor<2x3xf32>
  cf.yield (%b)
} else {
  %d = pd.tanh (%x) : tensor<2x3xf32>
  cf.yield (%d)
} : tensor<2x3xf32>
%shape = pd.full_int_array {value = [3, 2], dtype = i64} : tensor<2xi64>
%z = pd.add (%y, %zero) : tensor<2x3xf32>
%r = pd.reshape (%z, %shape) : tensor<3x2xf32>
pd.fetch (%r) {name = "r"}

// CHECK:      %x = pd.data
// CHECK-NEXT: %zero = pd.full {shape = [1], value = 0.0, dtype = f32}
// CHECK-NEXT: %z = pd.add (%x, %zero)
// CHECK-NEXT: %r = pd.reshape (%z) {shape = [3, 2]} : tensor<3x2xf32>
// CHECK-NEXT: pd.fetch (%r)
