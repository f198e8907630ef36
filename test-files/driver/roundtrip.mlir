// What is printed, in each form, is read as the same program; names and attributes with their default values do not matter.
// RUN: pir-opt --verify-roundtrip --print-mlir %s | FileCheck %s
// CHECK: index.cmp slt(%a, %b)
// CHECK: scf.forall (%i) in (4) {
// CHECK: {{^ *}}}{{$}}
func.func @f(%a: index, %b: index) -> i1 {
  %0 = index.cmp slt(%a, %b)
  scf.forall (%i) in (4) {
  }
  "scf.for"(%a, %b, %b) ({
  ^bb0(%i: index):
    %x = "arith.uitofp"(%0) : (i1) -> f64
    %y = "math.sin"(%x) : (f64) -> f64
    "scf.yield"() : () -> ()
  }) : (index, index, index) -> ()
  return %0 : i1
}
