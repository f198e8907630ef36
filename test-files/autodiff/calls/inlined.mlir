// After `inline`, functions that take tapes are left that nobody calls.
// RUN: pir-opt --pass='backward,inline,canonicalize,lower-stacks{to=memref}' --print-mlir %s | FileCheck %s
// CHECK: func.func @f_grad(%x: f64) -> (f64, f64)
// CHECK-NOT: cf.stack
func.func private @g(%x: f64) -> f64 {
  %y = math.sin %x : f64
  return %y : f64
}
func.func @f(%x: f64) -> f64 {
  %a = call @g(%x) : (f64) -> f64
  %b = call @g(%a) : (f64) -> f64
  return %b : f64
}
