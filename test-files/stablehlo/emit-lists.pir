// RUN: not pir-opt --emit=stablehlo %s 2>&1 | FileCheck %s
// Lists that differ in length are an error.
%x = pd.data {name = "x", shape = [4, 5], dtype = f32} : tensor<4x5xf32>
%v = pd.data {name = "v", shape = [1], dtype = f32} : tensor<1xf32>
%o = pd.set_value_with_tensor (%x, %v) {axes = [0, 1], starts = [0], ends = [1], steps = [1]} : tensor<4x5xf32>
%one = pd.full_int_array {value = [1], dtype = i64}
%two = pd.full_int_array {value = [2, 2], dtype = i64}
%s = pd.strided_slice (%o, %one, %two, %two) {axes = [0, 1]} : tensor<1x1xf32>
%t = pd.slice (%o, %one, %two) {axes = [0, 1]} : tensor<1x1xf32>
pd.fetch (%o) {name = "o"}
pd.fetch (%s) {name = "s"}
pd.fetch (%t) {name = "t"}
// CHECK: 5:6: error: `pd.set_value_with_tensor` cannot be written in StableHLO: the lists of axes and of their bounds differ in length
// CHECK: 8:6: error: `pd.strided_slice` cannot be written in StableHLO: the lists of axes and of their bounds differ in length
// CHECK: 9:6: error: `pd.slice` cannot be written in StableHLO: the lists of axes and of their bounds differ in length
