// What is not computed a second time: functions without a body, and those that do more than compute. Buffers
// that have other names are refused.
// RUN: not pir-opt --pass=backward --split-input-file %s 2>&1 | FileCheck %s

// CHECK: not.mlir:[[#@LINE+3]]:{{.*}}error: `func.call` has no derivative
func.func private @outside(%x: f64) -> f64
func.func @g(%x: f64) -> f64 {
  %y = call @outside(%x) : (f64) -> f64
  return %y : f64
}

// -----

// CHECK: not.mlir:[[#@LINE+5]]:{{.*}}error: the derivative passes through the buffer %b, and `memref.memory_space_cast` may create an alias of it
func.func @stores(%x: f64) -> f64 {
  %b = memref.alloc() : memref<1xf64>
  %i = arith.constant 0 : index
  memref.store %x, %b[%i] : memref<1xf64>
  %v = memref.memory_space_cast %b : memref<1xf64> to memref<1xf64, 1>
  %z = memref.load %b[%i] : memref<1xf64>
  %p = arith.mulf %x, %z : f64
  return %p : f64
}

// -----

// CHECK: not.mlir:[[#@LINE+14]]:{{.*}}error: the derivative passes through the buffer %b, and `func.call` may create an alias of it or change it
// CHECK: help: recursive functions cannot return such buffers
func.func private @puts(%x: f64, %b: memref<1xf64>) -> memref<1xf64> {
  %i = arith.constant 0 : index
  %more = arith.cmpf ogt, %x, %x : f64
  scf.if %more {
    %c = func.call @puts(%x, %b) : (f64, memref<1xf64>) -> memref<1xf64>
    memref.store %x, %c[%i] : memref<1xf64>
  }
  memref.store %x, %b[%i] : memref<1xf64>
  return %b : memref<1xf64>
}
func.func @k(%x: f64, %b: memref<1xf64>) -> f64 {
  %i = arith.constant 0 : index
  %c = call @puts(%x, %b) : (f64, memref<1xf64>) -> memref<1xf64>
  %z = memref.load %c[%i] : memref<1xf64>
  %p = arith.mulf %x, %z : f64
  return %p : f64
}
