// RUN: pir-opt --pass=canonicalize %s | FileCheck %s
// Constants that make an operation wrong stay operands: it fails when it is run, if it is.

%x = pd.data {name = "x", shape = [], dtype = i64} : tensor<i64>
%y = pd.data {name = "y", shape = [4], dtype = f32} : tensor<4xf32>
%c = pd.data {name = "c", shape = [], dtype = i1} : tensor<i1>
%one = pd.full {shape = [], value = 1, dtype = i64} : tensor<i64>
%five = pd.full_int_array {value = [5], dtype = i64} : tensor<1xi64>
%four = pd.full_int_array {value = [2, 2], dtype = i64} : tensor<2xi64>
%r = pd.if (%c) then {
  %a = pd.cumsum (%x, %one) : tensor<i64>
  %b = pd.cast (%a) {dtype = f32} : tensor<f32>
  cf.yield (%b)
} else {
  %b = pd.reshape (%y, %five) : tensor<?xf32>
  %s = pd.sum (%b) : tensor<f32>
  cf.yield (%s)
} : tensor<f32>
%ok = pd.reshape (%y, %four) : tensor<2x2xf32>
pd.fetch (%r) {name = "r"}
pd.fetch (%ok) {name = "ok"}

// CHECK: pd.cumsum (%x, %one) : tensor<i64>
// CHECK: pd.reshape (%y, %five) : tensor<?xf32>
// CHECK: pd.reshape (%y) {shape = [2, 2]} : tensor<2x2xf32>
