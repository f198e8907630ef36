// A type that is used wrongly is an error at its place in the text.
// RUN: not pir-opt --irdl-file %S/d.irdl --allow-unregistered-dialect %s 2>&1 | FileCheck %s
// CHECK: wrong-types.pir:[[@LINE+1]]:29: error: parameter 0 of `!d.box<i32>` must be `f32` or `f64`, as `irdl.any_of` in {{.*}}d.irdl:6:14 requires
%e = "test.value"() : () -> !d.box<i32>
// CHECK: wrong-types.pir:[[@LINE+1]]:29: error: `d.bx` is not a type
%f = "test.value"() : () -> !d.bx<f32>
// CHECK: wrong-types.pir:[[@LINE+1]]:29: error: `d.box` lacks its parameter `parameter0`
%g = "test.value"() : () -> !d.box
