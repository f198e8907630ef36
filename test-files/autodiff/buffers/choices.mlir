// Two buffers that a loop swaps, and one of two that a branch gives: the gradient carries their numbers, and chooses the shadows by them.
// RUN: pir-opt --pass=backward --print-mlir %s | FileCheck %s
// RUN: pir-opt --pass=backward %s | pir-run - --function f_grad --input x=0.7 --input n=3 | FileCheck %s --check-prefix=ODD
// RUN: pir-opt --pass=backward %s | pir-run - --function f_grad --input x=0.7 --input n=4 | FileCheck %s --check-prefix=EVEN

// x · x, n times: x^(2^n), whose derivative is 2^n · x^(2^n - 1); and the branch adds x, which it stores in the other buffer.
// CHECK-LABEL: func.func @f_grad
// CHECK: %[[A:.*]] = memref.alloc
// CHECK: %[[B:.*]] = memref.alloc
// CHECK: arith.select %{{.*}}, %[[A]], %[[B]] : memref<1xf64>
// CHECK: arith.select %{{.*}}, %{{.*}}_grad{{.*}}, %{{.*}}_grad{{.*}} : memref<1xf64>
// ODD: out:0 = tensor<f64> 0.757648
// ODD-NEXT: out:1 = tensor<f64> 1.658834
// EVEN: out:0 = tensor<f64> 0.703323
// EVEN-NEXT: out:1 = tensor<f64> 1.0759609
func.func @f(%x: f64, %n: index) -> f64 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %a = memref.alloc() : memref<1xf64>
  %b = memref.alloc() : memref<1xf64>
  memref.store %x, %a[%c0] : memref<1xf64>
  %last:2 = scf.for %i = %c0 to %n step %c1 iter_args(%from = %a, %to = %b) -> (memref<1xf64>, memref<1xf64>) {
    %v = memref.load %from[%c0] : memref<1xf64>
    %w = arith.mulf %v, %v : f64
    memref.store %w, %to[%c0] : memref<1xf64>
    scf.yield %to, %from : memref<1xf64>, memref<1xf64>
  }
  %none = arith.cmpi eq, %n, %c0 : index
  %other = scf.if %none -> (memref<1xf64>) {
    scf.yield %last#0 : memref<1xf64>
  } else {
    scf.yield %last#1 : memref<1xf64>
  }
  memref.store %x, %other[%c0] : memref<1xf64>
  %p = memref.load %last#0[%c0] : memref<1xf64>
  %q = memref.load %last#1[%c0] : memref<1xf64>
  %r = arith.addf %p, %q : f64
  memref.dealloc %a : memref<1xf64>
  memref.dealloc %b : memref<1xf64>
  return %r : f64
}
