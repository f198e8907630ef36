// A loop that runs once is its body; results of branches that are known before are selected; what a loop hands on from outside is that.
// RUN: pir-opt --canonicalize --print-mlir %s | FileCheck %s

// CHECK: func.func @once(%x: f64) -> f64 {
// CHECK-NEXT: %y = math.cos %x : f64
// CHECK-NEXT: return %y : f64
func.func @once(%x: f64) -> f64 {
  %c0 = arith.constant 0 : index
  %c3 = arith.constant 3 : index
  %c5 = arith.constant 5 : index
  %r = scf.for %i = %c0 to %c3 step %c5 iter_args(%a = %x) -> f64 {
    %y = math.cos %a : f64
    scf.yield %y : f64
  }
  return %r : f64
}

// CHECK: func.func @twice
// CHECK: scf.for
func.func @twice(%x: f64) -> f64 {
  %c0 = arith.constant 0 : index
  %c3 = arith.constant 3 : index
  %c2 = arith.constant 2 : index
  %r = scf.for %i = %c0 to %c3 step %c2 iter_args(%a = %x) -> f64 {
    %y = math.cos %a : f64
    scf.yield %y : f64
  }
  return %r : f64
}

// CHECK: func.func @selected(%c: i1, %x: f64, %y: f64) -> (f64, f64, i1) {
// CHECK-NEXT: %[[R:.*]] = arith.select %c, %x, %y : f64
// CHECK-NEXT: return %x, %[[R]], %c : f64, f64, i1
func.func @selected(%c: i1, %x: f64, %y: f64) -> (f64, f64, i1) {
  %r:3 = scf.if %c -> (f64, f64, i1) {
    %t = arith.constant true
    scf.yield %x, %x, %t : f64, f64, i1
  } else {
    %t = arith.constant false
    scf.yield %x, %y, %t : f64, f64, i1
  }
  return %r#0, %r#1, %r#2 : f64, f64, i1
}

// One result is computed in the branch, and stays.
// CHECK: func.func @partly
// CHECK: %[[A:.*]] = arith.select %c, %x, %y : f64
// CHECK-NEXT: %[[B:.*]] = scf.if %c -> (f64) {
// CHECK: return %[[A]], %[[B]] : f64, f64
func.func @partly(%c: i1, %x: f64, %y: f64) -> (f64, f64) {
  %r:2 = scf.if %c -> (f64, f64) {
    %s = math.sin %x : f64
    scf.yield %x, %s : f64, f64
  } else {
    scf.yield %y, %y : f64, f64
  }
  return %r#0, %r#1 : f64, f64
}

// Buffers are not selected.
// CHECK: func.func @buffers
// CHECK-NOT: arith.select
func.func @buffers(%c: i1, %a: memref<4xf64>, %b: memref<4xf64>) -> memref<4xf64> {
  %r = scf.if %c -> memref<4xf64> {
    scf.yield %a : memref<4xf64>
  } else {
    scf.yield %b : memref<4xf64>
  }
  return %r : memref<4xf64>
}

// CHECK: func.func @handed_on
// CHECK: scf.while : () -> () {
// CHECK: scf.condition(%{{.*}}){{$}}
// CHECK: memref.store %x, %b
// CHECK: return %x : f64
func.func @handed_on(%x: f64, %b: memref<f64>) -> f64 {
  %r = scf.while (%a = %x) : (f64) -> f64 {
    %v = memref.load %b[] : memref<f64>
    %c = arith.cmpf olt, %v, %x : f64
    scf.condition(%c) %x : f64
  } do {
  ^bb0(%y: f64):
    memref.store %y, %b[] : memref<f64>
    scf.yield %y : f64
  }
  return %r : f64
}

// CHECK: func.func @outside(%y: f64, %x: f64) -> f64 {
// CHECK-NEXT: return %y : f64
func.func @outside(%y: f64, %x: f64) -> f64 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c5 = arith.constant 5 : index
  %r = scf.for %i = %c0 to %c5 step %c1 iter_args(%a = %x) -> f64 {
    scf.yield %y : f64
  }
  return %r : f64
}

// CHECK: func.func @no_else
// CHECK-NOT: else
// CHECK-NOT: assert
// CHECK: return
func.func @no_else(%c: i1, %b: memref<f64>, %x: f64) {
  %true = arith.constant true
  cf.assert %true, "never"
  scf.if %c {
    memref.store %x, %b[] : memref<f64>
  } else {
  }
  return
}
