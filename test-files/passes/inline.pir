// RUN: pir-opt --pass=inline,symbol-dce %s | FileCheck %s

// Calls in what is called have been inlined before; names are those of the caller where it gives any.
func.func private @twice(%x: tensor<4xf32>) -> tensor<4xf32> {
  %y = pd.add (%x, %x)
  func.return (%y)
}
func.func private @branch(%c: i1, %x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %y = pd.if (%c) then {
    %z = func.call @twice (%x) : tensor<4xf32>
    cf.yield (%z)
  } else {
    cf.yield (%x)
  }
  func.return (%y, %x)
}
func.func @main(%c: i1, %a: tensor<4xf32>) -> tensor<4xf32> {
  %b, %same = func.call @branch (%c, %a) : tensor<4xf32>, tensor<4xf32>
  %d = func.call @twice (%same) : tensor<4xf32>
  %e = pd.add (%b, %d)
  func.return (%e)
}

// What may be of any length in the function is known in the caller.
func.func private @any(%x: tensor<?xf32>) -> tensor<?xf32> {
  %y = pd.tanh (%x)
  func.return (%y)
}
func.func @known(%x: tensor<4xf32>) -> tensor<4xf32> {
  %y = func.call @any (%x) : tensor<4xf32>
  %z = pd.add (%y, %x)
  func.return (%z)
}

// A function of several blocks splits the block of the call.
func.func private @abs(%x: tensor<f32>) -> tensor<f32> {
  %zero = pd.full {shape = [], value = 0.0, dtype = f32}
  %low = pd.less_than (%x, %zero)
  pd.condition_branch %low, ^less, ^done(%x)
^less:
  %y = pd.neg (%x)
  pd.branch ^done(%y)
^done(%r: tensor<f32>):
  func.return (%r)
}
func.func @sum(%x: tensor<f32>, %y: tensor<f32>) -> tensor<f32> {
  %p = func.call @abs (%x) : tensor<f32>
  %q = func.call @abs (%y) : tensor<f32>
  %s = pd.add (%p, %q)
  func.return (%s)
}
// NOTE: checks below are generated; regenerate with BLESS=1
// CHECK: func.func @main(%c: i1, %a: tensor<4xf32>) -> tensor<4xf32> {
// CHECK-NEXT:   %b = pd.if (%c) then {
// CHECK-NEXT:     %z = pd.add (%a, %a) : tensor<4xf32>
// CHECK-NEXT:     cf.yield (%z)
// CHECK-NEXT:   } else {
// CHECK-NEXT:     cf.yield (%a)
// CHECK-NEXT:   } : tensor<4xf32>
// CHECK-NEXT:   %d = pd.add (%a, %a) : tensor<4xf32>
// CHECK-NEXT:   %e = pd.add (%b, %d) : tensor<4xf32>
// CHECK-NEXT:   func.return (%e)
// CHECK-NEXT: }
// CHECK-NEXT: func.func @known(%x: tensor<4xf32>) -> tensor<4xf32> {
// CHECK-NEXT:   %y = pd.tanh (%x) : tensor<?xf32>
// CHECK-NEXT:   %z = pd.add (%y, %x) : tensor<4xf32>
// CHECK-NEXT:   func.return (%z)
// CHECK-NEXT: }
// CHECK-NEXT: func.func @sum(%x: tensor<f32>, %y: tensor<f32>) -> tensor<f32> {
// CHECK-NEXT:   %zero = pd.full {shape = [], value = 0.0, dtype = f32} : tensor<f32>
// CHECK-NEXT:   %low = pd.less_than (%x, %zero) : tensor<i1>
// CHECK-NEXT:   pd.condition_branch %low, ^bb1, ^bb2(%x)
// CHECK-NEXT: ^bb1:
// CHECK-NEXT:   %y_1 = pd.neg (%x) : tensor<f32>
// CHECK-NEXT:   pd.branch ^bb2(%y_1)
// CHECK-NEXT: ^bb2(%r: tensor<f32>):
// CHECK-NEXT:   pd.branch ^bb3(%r)
// CHECK-NEXT: ^bb3(%p: tensor<f32>):
// CHECK-NEXT:   %zero_1 = pd.full {shape = [], value = 0.0, dtype = f32} : tensor<f32>
// CHECK-NEXT:   %low_1 = pd.less_than (%y, %zero_1) : tensor<i1>
// CHECK-NEXT:   pd.condition_branch %low_1, ^bb4, ^bb5(%y)
// CHECK-NEXT: ^bb4:
// CHECK-NEXT:   %y_2 = pd.neg (%y) : tensor<f32>
// CHECK-NEXT:   pd.branch ^bb5(%y_2)
// CHECK-NEXT: ^bb5(%r_1: tensor<f32>):
// CHECK-NEXT:   pd.branch ^bb6(%r_1)
// CHECK-NEXT: ^bb6(%q: tensor<f32>):
// CHECK-NEXT:   %s = pd.add (%p, %q) : tensor<f32>
// CHECK-NEXT:   func.return (%s)
// CHECK-NEXT: }
