// Elements that are overwritten, in a buffer of the function: a shadow buffer has the cotangents.
// RUN: pir-opt --pass=backward,canonicalize --print-mlir %s | FileCheck %s
// RUN: pir-opt --pass=backward %s | pir-run - --function f_grad --input x=0.7 --input n=4 | FileCheck %s --check-prefix=NUMBERS
// RUN: pir-opt --pass=backward %s | pir-run - --function f_grad --input x=0.700001 --input n=4 | FileCheck %s --check-prefix=ABOVE
// RUN: pir-opt --pass=backward %s | pir-run - --function f_grad --input x=0.699999 --input n=4 | FileCheck %s --check-prefix=BELOW

// (3.11155307705918 - 3.11153550253388) / 2e-6 = 8.78726265
// NUMBERS: out:0 = tensor<f64> 3.1115442897
// NUMBERS-NEXT: out:1 = tensor<f64> 8.7872626
// ABOVE: out:0 = tensor<f64> 3.1115530770591
// BELOW: out:0 = tensor<f64> 3.1115355025338

// CHECK: func.func @f_grad(%x: f64, %n: index) -> (f64, f64)
// CHECK: memref.store
// CHECK: %[[SHADOW:b_grad[0-9_]*]] = memref.alloc(%n)
// CHECK: scf.while
// CHECK: memref.load %[[SHADOW]]
// CHECK: memref.dealloc %[[SHADOW]]
func.func @f(%x: f64, %n: index) -> f64 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %b = memref.alloc(%n) : memref<?xf64>
  scf.for %i = %c0 to %n step %c1 {
    memref.store %x, %b[%i] : memref<?xf64>
  }
  scf.for %i = %c1 to %n step %c1 {
    %h = arith.subi %i, %c1 : index
    %p = memref.load %b[%h] : memref<?xf64>
    %q = memref.load %b[%i] : memref<?xf64>
    %s = math.sin %q : f64
    %r = arith.mulf %s, %p : f64
    %t = arith.addf %r, %p : f64
    memref.store %t, %b[%i] : memref<?xf64>
  }
  %m = arith.subi %n, %c1 : index
  %y = memref.load %b[%m] : memref<?xf64>
  memref.dealloc %b : memref<?xf64>
  return %y : f64
}
