// Operations have the place in the source that they come from, those that a pass made as well.
// RUN: pir-opt --mlir-print-debuginfo --print-mlir %s | FileCheck %s
// RUN: pir-opt --print-debuginfo --print-generic --pass=backward %s | FileCheck %s --check-prefix=MADE
// RUN: pir-opt --print-debuginfo --verify-roundtrip %s | pir-opt --print-debuginfo --print-mlir - | FileCheck %s
// RUN: pir-opt --print-mlir %s | FileCheck %s --check-prefix=NONE

// CHECK: %y = math.sin %x : f64 loc("{{.*}}debuginfo.mlir":15:8)
// CHECK-NEXT: %z = math.exp %y : f64 loc("named")
// CHECK-NEXT: return %z : f64 loc("{{.*}}debuginfo.mlir":17:3)
// CHECK-NEXT: } loc("{{.*}}debuginfo.mlir":14:1)
// MADE: "math.cos"({{.*}} loc("{{.*}}debuginfo.mlir":15:8)
// NONE: %y = math.sin %x : f64{{$}}
// NONE-NEXT: %z = math.exp %y : f64 loc("named")
func.func @f(%x: f64) -> f64 {
  %y = math.sin %x : f64
  %z = math.exp %y : f64 loc("named")
  return %z : f64
}
