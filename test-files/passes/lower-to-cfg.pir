// RUN: pir-opt --pass=lower-to-cfg %s | FileCheck %s
// RUN: pir-opt --pass=lower-to-cfg,lift-cfg %s | FileCheck --check-prefix=BACK %s

// A branch in a loop.
// CHECK-LABEL: func.func @nested
// CHECK:         pd.branch ^bb1(%zero, %x)
// CHECK-NEXT:  ^bb1(%k: tensor<1xi64>, %a: tensor<4xf32>):
// CHECK-NEXT:    %go = pd.less_than (%k, %n)
// CHECK-NEXT:    pd.condition_branch %go, ^bb2(%k, %a), ^bb6(%k, %a)
// CHECK-NEXT:  ^bb2(%l: tensor<1xi64>, %b: tensor<4xf32>):
// CHECK-NEXT:    pd.condition_branch %c, ^bb3, ^bb4
// CHECK-NEXT:  ^bb3:
// CHECK-NEXT:    %t = pd.tanh (%b)
// CHECK-NEXT:    pd.branch ^bb5(%t)
// CHECK-NEXT:  ^bb4:
// CHECK-NEXT:    pd.branch ^bb5(%x)
// CHECK-NEXT:  ^bb5(%r: tensor<4xf32>):
// CHECK-NEXT:    %m = pd.increment (%l)
// CHECK-NEXT:    pd.branch ^bb1(%m, %r)
// CHECK-NEXT:  ^bb6(%k_e: tensor<1xi64>, %a_e: tensor<4xf32>):
// CHECK-NEXT:    func.return (%k_e, %a_e)

// BACK-LABEL: func.func @nested
// BACK:         %k_e, %a_e = pd.while (%zero, %x) cond (%k: tensor<1xi64>, %a: tensor<4xf32>) {
// BACK-NEXT:      %go = pd.less_than (%k, %n)
// BACK-NEXT:      cf.cond_yield (%go, %k, %a)
// BACK-NEXT:    } body (%l: tensor<1xi64>, %b: tensor<4xf32>) {
// BACK-NEXT:      %r = pd.if (%c) then {
// BACK-NEXT:        %t = pd.tanh (%b)
// BACK-NEXT:        cf.yield (%t)
// BACK-NEXT:      } else {
// BACK-NEXT:        cf.yield (%x)
// BACK-NEXT:      }
// BACK-NEXT:      %m = pd.increment (%l)
// BACK-NEXT:      cf.yield (%m, %r)
// BACK-NEXT:    }
// BACK-NEXT:    func.return (%k_e, %a_e)
func.func @nested(%n: tensor<1xi64>, %c: i1, %x: tensor<4xf32>) -> (tensor<1xi64>, tensor<4xf32>) {
  %zero = pd.full {shape = [1], value = 0, dtype = i64}
  %k_e, %a_e = pd.while (%zero, %x) cond (%k, %a) {
    %go = pd.less_than (%k, %n)
    cf.cond_yield (%go, %k, %a)
  } body (%l, %b) {
    %r = pd.if (%c) then {
      %t = pd.tanh (%b)
      cf.yield (%t)
    } else {
      cf.yield (%x)
    }
    %m = pd.increment (%l) {value = 1.0}
    cf.yield (%m, %r)
  }
  func.return (%k_e, %a_e)
}

// Stacks of init regions travel along.
// CHECK-LABEL: func.func @stacks
// CHECK:         pd.branch ^bb1(%zero)
// CHECK-NEXT:  ^bb1(%first: tensor<1xi64>):
// CHECK-NEXT:    %made = cf.create_stack ()
// CHECK-NEXT:    pd.branch ^bb2(%first, %made)
// CHECK-NEXT:  ^bb2(%i: tensor<1xi64>, %s: cf.stack):
// CHECK:         pd.condition_branch %go, ^bb3(%i, %s), ^bb4(%i, %s)
// CHECK-NEXT:  ^bb3(%j: tensor<1xi64>, %t: cf.stack):
// CHECK-NEXT:    cf.push_back (%t, %j)
// CHECK:         pd.branch ^bb2(%next, %t)
// CHECK-NEXT:  ^bb4(%e: tensor<1xi64>, %stack: cf.stack):
// CHECK:         cf.push_back (%stack, %e)
// BACK-LABEL: func.func @stacks
// BACK:         %made = cf.create_stack ()
// BACK-NEXT:    %e, %stack = pd.while (%zero, %made) cond (%i: tensor<1xi64>, %s: cf.stack) {
func.func @stacks(%n: tensor<1xi64>) -> tensor<1xi64> {
  %zero = pd.full {shape = [1], value = 0, dtype = i64}
  %e, %stack = pd.while (%zero) init (%first) {
    %made = cf.create_stack ()
    cf.yield (%first, %made)
  } cond (%i, %s) {
    %go = pd.less_than (%i, %n)
    cf.cond_yield (%go, %i, %s)
  } body (%j, %t) {
    cf.push_back (%t, %j)
    %next = pd.increment (%j) {value = 1.0}
    cf.yield (%next, %t)
  }
  cf.push_back (%stack, %e)
  %last = cf.pop_back (%stack) : tensor<1xi64>
  func.return (%last)
}

// The top level is one block.
// CHECK: %c = pd.data
// CHECK-NEXT: pd.if (%c) then
%c = pd.data {name = "c", shape = [1], dtype = i1}
pd.if (%c) then {
  %p = pd.print (%c) {message = "c"}
}
