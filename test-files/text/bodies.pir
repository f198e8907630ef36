// RUN: pir-opt %s | FileCheck %s
// RUN: pir-opt %s --print-generic | pir-opt - | FileCheck %s

// The braces of a function hold a body, `return` is that of functions, and types behind it are those of what it returns.
// CHECK: func.func @empty() {
// CHECK-NEXT: func.return ()
// CHECK: func.func @one(%x: f32) -> f32 {
// CHECK-NEXT: func.return (%x)
// CHECK: func.func @calls(%x: f32) -> f32 {
// CHECK-NEXT: %y = func.call @one (%x) : f32
// CHECK-NEXT: func.return (%y)
// CHECK: func.func @noted() attributes {my.a} {
func.func @empty() { return }
func.func @one(%x: f32) -> f32 { return %x : f32 }
func.func @calls(%x: f32) -> f32 {
  %y = call @one(%x) : (f32) -> f32
  return %y : f32
}
func.func @noted() attributes {my.a} {
  return
}
