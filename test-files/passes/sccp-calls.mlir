// Constants pass into private functions that are only called, and out of all functions.
// RUN: pir-opt --pass=sccp --print-mlir %s | FileCheck %s

// CHECK-LABEL: func.func private @twice
// CHECK: %[[TWO:.*]] = arith.constant 2 : i32
// CHECK: return %[[TWO]], %y : i32, i32
func.func private @twice(%x: i32, %y: i32) -> (i32, i32) {
  %r = arith.addi %x, %x : i32
  return %r, %y : i32, i32
}

// What calls give each other around a circle stays a constant.
// CHECK-LABEL: func.func private @down
func.func private @down(%n: i32, %x: i32) -> i32 {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %end = arith.cmpi eq, %n, %c0 : i32
  // CHECK: %[[SEVEN:.*]] = arith.constant 7 : i32
  // CHECK: scf.yield %[[SEVEN]] : i32
  %r = scf.if %end -> i32 {
    scf.yield %x : i32
  } else {
    %m = arith.subi %n, %c1 : i32
    %d = func.call @down(%m, %x) : (i32, i32) -> i32
    scf.yield %d : i32
  }
  return %r : i32
}

// CHECK-LABEL: func.func @main
// CHECK: %[[TWO:.*]] = arith.constant 2 : i32
// CHECK: %[[R:.*]]:2 = call @twice
// CHECK: %[[SEVEN:.*]] = arith.constant 7 : i32
// CHECK-NEXT: call @down
// CHECK: return %[[TWO]], %[[R]]#1, %[[SEVEN]]
func.func @main(%n: i32) -> (i32, i32, i32) {
  %c1 = arith.constant 1 : i32
  %c7 = arith.constant 7 : i32
  %r:2 = call @twice(%c1, %n) : (i32, i32) -> (i32, i32)
  %s:2 = call @twice(%c1, %c7) : (i32, i32) -> (i32, i32)
  %d = call @down(%n, %c7) : (i32, i32) -> i32
  return %r#0, %r#1, %d : i32, i32, i32
}

// A function that something else names may be called with anything.
// CHECK-LABEL: func.func private @named
// CHECK: return %x : i32
func.func private @named(%x: i32) -> i32 {
  return %x : i32
}

// CHECK-LABEL: func.func @names
// CHECK: %[[R:.*]] = call @named
// CHECK: return %[[R]]
func.func @names() -> (i32, (i32) -> i32) {
  %c1 = arith.constant 1 : i32
  %f = constant @named : (i32) -> i32
  %r = call @named(%c1) : (i32) -> i32
  return %r, %f : i32, (i32) -> i32
}

// Constants of two functions that are at the same place in them stay apart.
// CHECK-LABEL: func.func private @difference
// CHECK: %[[SEVEN:.*]] = arith.constant 7 : i32
// CHECK: arith.subi %a, %[[SEVEN]] : i32
func.func private @difference(%a: i32, %b: i32) -> i32 {
  %d = arith.subi %a, %b : i32
  return %d : i32
}
func.func private @less_seven(%k: i32) -> i32 {
  %c7 = arith.constant 7 : i32
  %d = call @difference(%k, %c7) : (i32, i32) -> i32
  return %d : i32
}
func.func @less_fourteen() -> i32 {
  %c123 = arith.constant 123 : i32
  %a = call @less_seven(%c123) : (i32) -> i32
  %b = call @less_seven(%a) : (i32) -> i32
  return %b : i32
}
