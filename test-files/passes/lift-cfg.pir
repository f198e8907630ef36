// RUN: pir-opt --pass=lift-cfg %s | FileCheck %s

// Two returns.
func.func @max(%a: tensor<f32>, %b: tensor<f32>) -> tensor<f32> {
  %c = pd.greater_than (%a, %b)
  pd.condition_branch %c, ^first, ^second
^first:
  func.return (%a)
^second:
  func.return (%b)
}

// Two conditions with one way out in common: which way was taken is remembered.
func.func @either(%p: i1, %q: i1, %x: tensor<f32>) -> tensor<f32> {
  pd.condition_branch %p, ^yes, ^ask
^ask:
  pd.condition_branch %q, ^yes, ^no
^yes:
  %y = pd.print (%x) {message = "yes"}
  pd.branch ^end(%y)
^no:
  %n = pd.print (%x) {message = "no"}
  pd.branch ^end(%n)
^end(%r: tensor<f32>):
  func.return (%r)
}

// The end of the loop is asked for behind the body.
func.func @behind(%x: tensor<1xf32>, %limit: tensor<1xf32>) -> tensor<1xf32> {
  pd.branch ^loop(%x)
^loop(%a: tensor<1xf32>):
  %b = pd.exp (%a)
  %more = pd.less_than (%b, %limit)
  pd.condition_branch %more, ^loop(%b), ^end
^end:
  %c = pd.add (%a, %b)
  func.return (%c)
}

// A loop that is left at two places.
func.func @break(%x: tensor<1xf32>, %limit: tensor<1xf32>, %stop: i1) -> tensor<1xf32> {
  pd.branch ^loop(%x)
^loop(%a: tensor<1xf32>):
  %more = pd.less_than (%a, %limit)
  pd.condition_branch %more, ^body, ^done
^body:
  %b = pd.exp (%a)
  pd.condition_branch %stop, ^stopped, ^loop(%b)
^stopped:
  %s = pd.neg (%b)
  pd.branch ^end(%s)
^done:
  pd.branch ^end(%a)
^end(%r: tensor<1xf32>):
  func.return (%r)
}
// NOTE: checks below are generated; regenerate with BLESS=1
// CHECK: // Two returns.
// CHECK-NEXT: func.func @max(%a: tensor<f32>, %b: tensor<f32>) -> tensor<f32> {
// CHECK-NEXT:   %c = pd.greater_than (%a, %b) : tensor<i1>
// CHECK-NEXT:   %0 = pd.if (%c) then {
// CHECK-NEXT:     cf.yield (%a)
// CHECK-NEXT:   } else {
// CHECK-NEXT:     cf.yield (%b)
// CHECK-NEXT:   } : tensor<f32>
// CHECK-NEXT:   func.return (%0)
// CHECK-NEXT: }
// CHECK-NEXT: // Two conditions with one way out in common: which way was taken is remembered.
// CHECK-NEXT: func.func @either(%p: i1, %q: i1, %x: tensor<f32>) -> tensor<f32> {
// CHECK-NEXT:   %0, %r = pd.if (%p) then {
// CHECK-NEXT:     %1 = pd.full {shape = [], value = true, dtype = i1} : tensor<i1>
// CHECK-NEXT:     %2 = pd.full {shape = [], value = 0.0, dtype = f32} : tensor<f32>
// CHECK-NEXT:     cf.yield (%1, %2)
// CHECK-NEXT:   } else {
// CHECK-NEXT:     %r = pd.if (%q) then {
// CHECK-NEXT:       %3 = pd.full {shape = [], value = 0.0, dtype = f32} : tensor<f32>
// CHECK-NEXT:       cf.yield (%3)
// CHECK-NEXT:     } else {
// CHECK-NEXT:       %n = pd.print (%x) {message = "no"} : tensor<f32>
// CHECK-NEXT:       cf.yield (%n)
// CHECK-NEXT:     } : tensor<f32>
// CHECK-NEXT:     %4 = pd.full {shape = [], value = true, dtype = i1} : tensor<i1>
// CHECK-NEXT:     %5 = pd.full {shape = [], value = false, dtype = i1} : tensor<i1>
// CHECK-NEXT:     %6 = pd.if (%q) then {
// CHECK-NEXT:       cf.yield (%4)
// CHECK-NEXT:     } else {
// CHECK-NEXT:       cf.yield (%5)
// CHECK-NEXT:     } : tensor<i1>
// CHECK-NEXT:     cf.yield (%6, %r)
// CHECK-NEXT:   } : tensor<i1>, tensor<f32>
// CHECK-NEXT:   %r_1 = pd.if (%0) then {
// CHECK-NEXT:     %y = pd.print (%x) {message = "yes"} : tensor<f32>
// CHECK-NEXT:     cf.yield (%y)
// CHECK-NEXT:   } else {
// CHECK-NEXT:     cf.yield (%r)
// CHECK-NEXT:   } : tensor<f32>
// CHECK-NEXT:   func.return (%r_1)
// CHECK-NEXT: }
// CHECK-NEXT: // The end of the loop is asked for behind the body.
// CHECK-NEXT: func.func @behind(%x: tensor<1xf32>, %limit: tensor<1xf32>) -> tensor<1xf32> {
// CHECK-NEXT:   %b, %a = pd.while (%x) cond (%a: tensor<1xf32>) {
// CHECK-NEXT:     %b = pd.exp (%a) : tensor<1xf32>
// CHECK-NEXT:     %more = pd.less_than (%b, %limit) : tensor<1xi1>
// CHECK-NEXT:     cf.cond_yield (%more, %b, %a)
// CHECK-NEXT:   } body (%a: tensor<1xf32>, %a_1: tensor<1xf32>) {
// CHECK-NEXT:     cf.yield (%a)
// CHECK-NEXT:   } : tensor<1xf32>, tensor<1xf32>
// CHECK-NEXT:   %c = pd.add (%a, %b) : tensor<1xf32>
// CHECK-NEXT:   func.return (%c)
// CHECK-NEXT: }
// CHECK-NEXT: // A loop that is left at two places.
// CHECK-NEXT: func.func @break(%x: tensor<1xf32>, %limit: tensor<1xf32>, %stop: i1) -> tensor<1xf32> {
// CHECK-NEXT:   %a, %0, %1, %a_1, %b = pd.while (%x) cond (%a: tensor<1xf32>) {
// CHECK-NEXT:     %more = pd.less_than (%a, %limit) : tensor<1xi1>
// CHECK-NEXT:     %2, %3, %a_2, %4, %b = pd.if (%more) then {
// CHECK-NEXT:       %b = pd.exp (%a) : tensor<1xf32>
// CHECK-NEXT:       %5 = pd.full {shape = [], value = true, dtype = i1} : tensor<i1>
// CHECK-NEXT:       %6 = pd.full {shape = [], value = false, dtype = i1} : tensor<i1>
// CHECK-NEXT:       %7 = pd.if (%stop) then {
// CHECK-NEXT:         cf.yield (%5)
// CHECK-NEXT:       } else {
// CHECK-NEXT:         cf.yield (%6)
// CHECK-NEXT:       } : tensor<i1>
// CHECK-NEXT:       %8 = pd.full {shape = [], value = false, dtype = i1} : tensor<i1>
// CHECK-NEXT:       %9 = pd.full {shape = [], value = true, dtype = i1} : tensor<i1>
// CHECK-NEXT:       %10 = pd.if (%stop) then {
// CHECK-NEXT:         cf.yield (%8)
// CHECK-NEXT:       } else {
// CHECK-NEXT:         cf.yield (%9)
// CHECK-NEXT:       } : tensor<i1>
// CHECK-NEXT:       %11 = pd.full {shape = [], value = false, dtype = i1} : tensor<i1>
// CHECK-NEXT:       cf.yield (%7, %10, %b, %11, %b)
// CHECK-NEXT:     } else {
// CHECK-NEXT:       %12 = pd.full {shape = [], value = false, dtype = i1} : tensor<i1>
// CHECK-NEXT:       %13 = pd.full {shape = [], value = false, dtype = i1} : tensor<i1>
// CHECK-NEXT:       %14 = pd.full {shape = [1], value = 0.0, dtype = f32} : tensor<1xf32>
// CHECK-NEXT:       %15 = pd.full {shape = [], value = true, dtype = i1} : tensor<i1>
// CHECK-NEXT:       %16 = pd.full {shape = [1], value = 0.0, dtype = f32} : tensor<1xf32>
// CHECK-NEXT:       cf.yield (%12, %13, %14, %15, %16)
// CHECK-NEXT:     } : tensor<i1>, tensor<i1>, tensor<1xf32>, tensor<i1>, tensor<1xf32>
// CHECK-NEXT:     cf.cond_yield (%3, %a_2, %2, %4, %a, %b)
// CHECK-NEXT:   } body (%a: tensor<1xf32>, %arg0: tensor<i1>, %arg1: tensor<i1>, %a_3: tensor<1xf32>, %b: tensor<1xf32>) {
// CHECK-NEXT:     cf.yield (%a)
// CHECK-NEXT:   } : tensor<1xf32>, tensor<i1>, tensor<i1>, tensor<1xf32>, tensor<1xf32>
// CHECK-NEXT:   %r = pd.if (%0) then {
// CHECK-NEXT:     %s = pd.neg (%b) : tensor<1xf32>
// CHECK-NEXT:     cf.yield (%s)
// CHECK-NEXT:   } else {
// CHECK-NEXT:     cf.yield (%a_1)
// CHECK-NEXT:   } : tensor<1xf32>
// CHECK-NEXT:   func.return (%r)
// CHECK-NEXT: }
