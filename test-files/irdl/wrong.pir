// An error tells the operation, and the constraint in the file.
// RUN: not pir-opt --irdl-file %S/d.irdl --allow-unregistered-dialect %s 2>&1 | FileCheck %s
// RUN: not pir-opt --irdl-file %S/d.irdl %S/inputs/names.pir 2>&1 | FileCheck %s --check-prefix=NAMES
%a = "test.value"() : () -> i32
%b = "test.value"() : () -> !d.box<f32>
// CHECK: wrong.pir:[[@LINE+2]]:6: error: result 0 of `d.same` must be `i32`, as in its first use, not `i64`
// CHECK-NEXT: note: required by `irdl.any` in {{.*}}d.irdl:25:14
%c = d.same (%a, %a) : i64
// CHECK: wrong.pir:[[@LINE+2]]:6: error: result 0 of `d.unbox` must be `f32`, as in its first use, not `f64`
// CHECK-NEXT: note: required by `irdl.any` in {{.*}}d.irdl:51:14
%d = d.unbox (%b) : f64
// CHECK: wrong.pir:[[@LINE+2]]:1: error: operand 0 of `d.all` must be `f32` or `f64`, not `i32`
// CHECK-NEXT: note: required by `irdl.any_of` in {{.*}}d.irdl:80:14
d.all (%a)
// CHECK: wrong.pir:[[@LINE+1]]:6: error: `d.same` takes 2 operands (operand0, operand1), not 1
%g = d.same (%a) : i32
// CHECK: wrong.pir:[[@LINE+1]]:1: error: parameter 1 of `#d.pair<"x", "y">` must be a `#builtin.integer`, as `irdl.base` in {{.*}}d.irdl:18:14 requires
d.of_pair () {p = #d.pair<"x", "y">}
// CHECK: wrong.pir:[[@LINE+2]]:1: error: operand 1 of `d.two` must be `i64`, not `i32`
// CHECK-NEXT: note: required by `irdl.is` in {{.*}}d.irdl:42:14
d.two (%a, %a) {operand_segment_sizes = array<i32: 1, 1>}

// NAMES: names.pir:1:28: error: `d.attributes` has no attribute `c`
// NAMES: names.pir:2:1: error: there is no operation `d.sme`
// NAMES-NEXT: help: did you mean `d.same`?
