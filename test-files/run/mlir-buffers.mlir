// Buffers share their elements; the ones that a function is given are shown as it leaves them.
// RUN: pir-run %s --function shared --input m=zeros --input at=1 --input x=7.0 | FileCheck %s --check-prefix=SHARED
// RUN: pir-opt --pass=canonicalize,cse,licm,sccp %s | pir-run - --function shared --input m=zeros --input at=1 --input x=7.0 | FileCheck %s --check-prefix=SHARED
// RUN: not pir-run %s --function shared --input m=zeros --input at=3 --input x=7.0 2>&1 | FileCheck %s --check-prefix=PART
// RUN: not pir-run %s --function element --input at=-1 2>&1 | FileCheck %s --check-prefix=ELEMENT
// RUN: not pir-run %s --function twice 2>&1 | FileCheck %s --check-prefix=TWICE
// RUN: pir-run %s --function loops --input n=4 | FileCheck %s --check-prefix=LOOPS

memref.global "private" @table : memref<2x2xf64> = dense<[[1.0, 2.0], [3.0, 4.0]]>

// SHARED: m = tensor<4x4xf64> {{\[\[}}0, 0, 0, 0], [0, 0, 7, 0], [0, 0, 0, 0], [0, 0, 0, 0]]
// SHARED-NEXT: out:0 = tensor<f64> 7
// SHARED-NEXT: out:1 = tensor<2x2xf64> {{\[\[}}0, 7], [0, 0]]
// SHARED-NEXT: out:2 = tensor<2xf64> [3, 4]
// PART: :[[#@LINE+6]]:{{.*}}`memref.subview` failed: 2 elements from 3 with stride 1 are out of the bounds of dimension 0, which has extent 4
func.func @shared(%m: memref<4x4xf64>, %at: index, %x: f64)
    -> (f64, memref<2x2xf64, strided<[4, 1], offset: ?>>, memref<2xf64>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %part = memref.subview %m[%at, 1] [2, 2] [1, 1] : memref<4x4xf64> to memref<2x2xf64, strided<[4, 1], offset: ?>>
  memref.store %x, %part[%c0, %c1] : memref<2x2xf64, strided<[4, 1], offset: ?>>
  %seen = memref.load %m[%at, %c2] : memref<4x4xf64>
  %table = memref.get_global @table : memref<2x2xf64>
  %row = memref.subview %table[1, 0] [1, 2] [1, 1] : memref<2x2xf64> to memref<2xf64, strided<[1], offset: 2>>
  %copy = memref.alloc() : memref<2xf64>
  memref.copy %row, %copy : memref<2xf64, strided<[1], offset: 2>> to memref<2xf64>
  return %seen, %part, %copy : f64, memref<2x2xf64, strided<[4, 1], offset: ?>>, memref<2xf64>
}

// ELEMENT: :[[#@LINE+3]]:{{.*}}`memref.load` failed: index -1 is out of range for dimension 0 of extent 2
func.func @element(%at: index) -> f64 {
  %b = memref.alloca() : memref<2xf64>
  %x = memref.load %b[%at] : memref<2xf64>
  return %x : f64
}

// TWICE: :[[#@LINE+4]]:{{.*}}`memref.dealloc` failed: the buffer was deallocated
func.func @twice() {
  %b = memref.alloc() : memref<2xf64>
  memref.dealloc %b : memref<2xf64>
  memref.dealloc %b : memref<2xf64>
  return
}

// LOOPS: out:0 = tensor<4xi64> [1, 2, 4, 8]
// LOOPS: out:1 = tensor<i64> 4
func.func @loops(%n: index) -> (memref<?xi64>, i64) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %one = arith.constant 1 : i64
  %b = memref.alloc(%n) : memref<?xi64>
  %d = scf.for %i = %c0 to %n step %c1 iter_args(%x = %one) -> (i64) {
    memref.store %x, %b[%i] : memref<?xi64>
    %again = memref.load %b[%i] : memref<?xi64>
    %y = arith.addi %again, %x : i64
    scf.yield %y : i64
  }
  %extent = memref.dim %b, %c0 : memref<?xi64>
  %e = arith.index_cast %extent : index to i64
  return %b, %e : memref<?xi64>, i64
}
