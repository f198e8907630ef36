// What is not computed a second time: functions of several blocks, without a body, and those that do more than compute. Buffers
// that have other names are refused.
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

// CHECK: not.mlir:[[#@LINE+13]]:{{.*}}error: the derivative passes through the buffer %b, and `func.call` may create an alias of it or change it
// CHECK: help: recursive functions, and functions of several blocks, cannot take such buffers
func.func private @puts(%x: f64, %b: memref<1xf64>) {
  %i = arith.constant 0 : index
  %more = arith.cmpf ogt, %x, %x : f64
  scf.if %more {
    func.call @puts(%x, %b) : (f64, memref<1xf64>) -> ()
  }
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
