// Two buffers may be one: no read moves over a write, and reads with none between them are one.
// RUN: pir-opt --pass=cse,licm,dce --print-mlir %s | FileCheck %s

// CHECK-LABEL: func.func @cse
func.func @cse(%a: memref<4xf64>, %b: memref<4xf64>, %i: index, %x: f64) -> (f64, f64, f64, f64) {
  // CHECK: %[[P:.*]] = memref.load %a[%i]
  // CHECK-NOT: memref.load
  // CHECK: memref.store %x, %b[%i]
  // CHECK-NEXT: %[[Q:.*]] = memref.load %a[%i]
  // CHECK-NEXT: call @changes
  // CHECK-NEXT: %[[R:.*]] = memref.load %a[%i]
  // CHECK-NEXT: return %[[P]], %[[P]], %[[Q]], %[[R]]
  %p = memref.load %a[%i] : memref<4xf64>
  %o = memref.load %a[%i] : memref<4xf64>
  memref.store %x, %b[%i] : memref<4xf64>
  %q = memref.load %a[%i] : memref<4xf64>
  call @changes(%a) : (memref<4xf64>) -> ()
  %r = memref.load %a[%i] : memref<4xf64>
  return %p, %o, %q, %r : f64, f64, f64, f64
}

func.func private @changes(memref<4xf64>)

// CHECK-LABEL: func.func @licm
func.func @licm(%a: memref<4xf64>, %n: index, %x: f64) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  // Its extent does not change; its elements do, and the read may be out of range where the loop does not run.
  // CHECK: scf.for
  // CHECK: memref.load
  // CHECK: memref.store
  scf.for %i = %c0 to %n step %c1 {
    %y = memref.load %a[%c0] : memref<4xf64>
    %z = arith.addf %y, %x : f64
    memref.store %z, %a[%c0] : memref<4xf64>
  }
  return
}

// CHECK-LABEL: func.func @unused
// CHECK-NEXT: return
func.func @unused(%a: memref<4xf64>, %i: index) {
  %b = memref.alloc() : memref<8xf64>
  %part = memref.subview %a[0] [2] [1] : memref<4xf64> to memref<2xf64, strided<[1]>>
  %x = memref.load %a[%i] : memref<4xf64>
  return
}
