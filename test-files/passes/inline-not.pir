// RUN: pir-opt --pass=inline{max-size=3},symbol-dce %s | FileCheck %s

// A function that calls itself in the end is never inlined.
// CHECK: func.func private @even
// CHECK: func.call @odd
func.func private @even(%x: f32) -> f32 {
  %y = func.call @odd (%x) : f32
  func.return (%y)
}
// CHECK: func.func private @odd
// CHECK: func.call @even
func.func private @odd(%x: f32) -> f32 {
  %y = func.call @even (%x) : f32
  func.return (%y)
}

// Too large.
// CHECK: func.func private @large
func.func private @large(%x: f32) -> f32 {
  %a = pd.tanh (%x)
  %b = pd.tanh (%a)
  %c = pd.tanh (%b)
  func.return (%c)
}

// Only declared.
// CHECK: func.func private @declared
func.func private @declared(f32) -> f32

// Several blocks do not fit into a branch.
// CHECK: func.func private @blocks
func.func private @blocks(%x: f32) -> f32 {
  pd.branch ^next
^next:
  func.return (%x)
}

// CHECK-LABEL: func.func @main
// CHECK: func.call @odd
// CHECK: func.call @large
// CHECK: func.call @declared
// CHECK: pd.if
// CHECK: func.call @blocks
// CHECK: func.return
func.func @main(%c: i1, %x: f32) -> f32 {
  %p = func.call @odd (%x) : f32
  %q = func.call @large (%p) : f32
  %r = func.call @declared (%q) : f32
  %s = pd.if (%c) then {
    %t = func.call @blocks (%r) : f32
    cf.yield (%t)
  } else {
    cf.yield (%r)
  }
  func.return (%s)
}
