// What is not computed a second time: functions of several blocks, without a body, and those that do more than compute. Through
// buffers no derivative passes.
// RUN: not pir-opt --pass=backward --split-input-file %s 2>&1 | FileCheck %s

// CHECK: not.mlir:[[#@LINE+10]]:{{.*}}error: `func.call` has no derivative
func.func private @blocks(%x: f64, %c: i1) -> f64 {
  cf.cond_br %c, ^bb1, ^bb2
^bb1:
  %s = math.sin %x : f64
  return %s : f64
^bb2:
  return %x : f64
}
func.func @f(%x: f64, %c: i1) -> f64 {
  %y = call @blocks(%x, %c) : (f64, i1) -> f64
  return %y : f64
}

// -----

// CHECK: not.mlir:[[#@LINE+3]]:{{.*}}error: `func.call` has no derivative
func.func private @outside(%x: f64) -> f64
func.func @g(%x: f64) -> f64 {
  %y = call @outside(%x) : (f64) -> f64
  return %y : f64
}

// -----

// CHECK: not.mlir:[[#@LINE+8]]:{{.*}}error: `func.call` has no derivative
func.func private @reads(%x: f64, %b: memref<1xf64>) -> f64 {
  %i = arith.constant 0 : index
  %z = memref.load %b[%i] : memref<1xf64>
  %p = arith.mulf %x, %z : f64
  return %p : f64
}
func.func @h(%x: f64, %b: memref<1xf64>) -> f64 {
  %y = call @reads(%x, %b) : (f64, memref<1xf64>) -> f64
  return %y : f64
}

// -----

// CHECK: not.mlir:[[#@LINE+4]]:{{.*}}error: `memref.store` puts what depends on an input into a buffer
func.func @stores(%x: f64) -> f64 {
  %b = memref.alloc() : memref<1xf64>
  %i = arith.constant 0 : index
  memref.store %x, %b[%i] : memref<1xf64>
  %z = memref.load %b[%i] : memref<1xf64>
  %p = arith.mulf %x, %z : f64
  return %p : f64
}

// -----

// CHECK: not.mlir:[[#@LINE+8]]:{{.*}}error: `func.call` puts what depends on an input into a buffer
func.func private @puts(%x: f64, %b: memref<1xf64>) {
  %i = arith.constant 0 : index
  memref.store %x, %b[%i] : memref<1xf64>
  return
}
func.func @k(%x: f64, %b: memref<1xf64>) -> f64 {
  %i = arith.constant 0 : index
  call @puts(%x, %b) : (f64, memref<1xf64>) -> ()
  %z = memref.load %b[%i] : memref<1xf64>
  %p = arith.mulf %x, %z : f64
  return %p : f64
}
