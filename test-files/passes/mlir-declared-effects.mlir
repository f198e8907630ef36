// Operations of `affine`, `complex` and `vector` that have a row declare their effects; others may do anything.
// RUN: pir-opt --pass=cse,licm,dce %s | FileCheck %s

// CHECK-LABEL: func.func @merged
// CHECK: %0 = "affine.apply"
// CHECK-NOT: affine.apply
// CHECK: %2 = "affine.load"
// CHECK-NEXT: arith.addf (%2, %2)
// CHECK-NEXT: "affine.store"
// A load behind the store is another one.
// CHECK-NEXT: "affine.load"
// CHECK-NOT: affine.max
// CHECK: func.return
func.func @merged(%m: memref<8xf64>, %n: index) -> (f64, f64, index, index) {
  %0 = affine.apply affine_map<(d0) -> (d0 + 1)>(%n)
  %1 = affine.apply affine_map<(d0) -> (d0 + 1)>(%n)
  %2 = affine.load %m[%0] : memref<8xf64>
  %3 = affine.load %m[%1] : memref<8xf64>
  %4 = arith.addf %2, %3 : f64
  affine.store %4, %m[%0] : memref<8xf64>
  %5 = affine.load %m[%0] : memref<8xf64>
  %6 = affine.max affine_map<(d0) -> (d0, 7)>(%n)
  return %4, %5, %0, %1 : f64, f64, index, index
}

// CHECK-LABEL: func.func @hoisted
// CHECK: "complex.create"
// CHECK: "vector.splat"
// CHECK: scf.for
// CHECK-NOT: complex.create
// CHECK-NOT: vector.splat
// CHECK: "vector.store"
func.func @hoisted(%x: f64, %m: memref<8xf64>, %n: index) -> complex<f64> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %z = complex.create %x, %x : complex<f64>
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%a = %z) -> (complex<f64>) {
    %y = complex.create %x, %x : complex<f64>
    %b = complex.mul %a, %y : complex<f64>
    %v = vector.splat %x : vector<4xf64>
    vector.store %v, %m[%i] : memref<8xf64>, vector<4xf64>
    scf.yield %b : complex<f64>
  }
  return %r : complex<f64>
}

// The region of a mask decides about what is in it, so that is left alone.
// CHECK-LABEL: func.func @masked
// CHECK: "vector.reduction"
// CHECK: "vector.mask"
// CHECK: "vector.reduction"
func.func @masked(%v: vector<4xf64>, %k: vector<4xi1>) -> (f64, f64) {
  %all = vector.reduction <add>, %v : vector<4xf64> into f64
  %some = vector.mask %k { vector.reduction <add>, %v : vector<4xf64> into f64 } : vector<4xi1> -> f64
  return %all, %some : f64, f64
}
