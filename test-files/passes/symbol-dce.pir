// RUN: pir-opt --pass=symbol-dce %s | FileCheck %s
// RUN: pir-opt --pass=symbol-dce{keep=other} %s | FileCheck --check-prefix=KEEP %s
// RUN: not pir-opt --pass=symbol-dce{keep=nothing} %s 2>&1 | FileCheck --check-prefix=UNKNOWN %s
// UNKNOWN: error: there is no function `@nothing` to keep

// CHECK: func.func @main
// KEEP-NOT: func.func @main
func.func @main(%x: f32) -> f32 {
  %y = func.call @used (%x) : f32
  func.return (%y)
}

// CHECK: func.func private @used
// KEEP-NOT: func.func private @used
func.func private @used(%x: f32) -> f32 {
  %y = func.call @indirectly (%x) : f32
  func.return (%y)
}

// CHECK: func.func private @indirectly
func.func private @indirectly(%x: f32) -> f32 {
  func.return (%x)
}

// Only called by functions that nothing calls, itself among them.
// CHECK-NOT: @unused
func.func private @unused(%x: f32) -> f32 {
  %y = func.call @unused_too (%x) : f32
  func.return (%y)
}
func.func private @unused_too(%x: f32) -> f32 {
  %y = func.call @unused (%x) : f32
  func.return (%y)
}

// Mentioned in an attribute.
// CHECK: func.func private @mentioned
func.func private @mentioned(%x: f32) -> f32 {
  func.return (%x)
}

// Not private, but not called either.
// CHECK: func.func @other
// KEEP: func.func @other
func.func @other(%x: f32) -> f32 attributes {my.hooks = [{after = @mentioned}]} {
  func.return (%x)
}
