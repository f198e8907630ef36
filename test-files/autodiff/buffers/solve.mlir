// Elimination and substitution in place.
// RUN: pir-run %s --function f --check-grad --input x=2.0 --input y=0.5 --input n=3 | FileCheck %s

// CHECK: x {{.*}} ok
// CHECK-NOT: WRONG
func.func @f(%x: f64, %y: f64, %n: index) -> f64 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %A = memref.alloc(%n, %n) : memref<?x?xf64>
  %b = memref.alloc(%n) : memref<?xf64>
  scf.for %i = %c0 to %n step %c1 {
    %ii = arith.index_cast %i : index to i64
    %fi = arith.sitofp %ii : i64 to f64
    %bi = arith.addf %fi, %y : f64
    memref.store %bi, %b[%i] : memref<?xf64>
    scf.for %j = %c0 to %n step %c1 {
      %e = arith.cmpi eq, %i, %j : index
      %jj = arith.index_cast %j : index to i64
      %fj = arith.sitofp %jj : i64 to f64
      %v = scf.if %e -> f64 {
        %w = arith.addf %x, %fi : f64
        scf.yield %w : f64
      } else {
        %w = arith.mulf %y, %fj : f64
        scf.yield %w : f64
      }
      memref.store %v, %A[%i, %j] : memref<?x?xf64>
    }
  }
  // elimination
  scf.for %k = %c0 to %n step %c1 {
    %p = memref.load %A[%k, %k] : memref<?x?xf64>
    %k1 = arith.addi %k, %c1 : index
    scf.for %i = %k1 to %n step %c1 {
      %a = memref.load %A[%i, %k] : memref<?x?xf64>
      %m = arith.divf %a, %p : f64
      scf.for %j = %k to %n step %c1 {
        %u = memref.load %A[%k, %j] : memref<?x?xf64>
        %v = memref.load %A[%i, %j] : memref<?x?xf64>
        %w = arith.mulf %m, %u : f64
        %z = arith.subf %v, %w : f64
        memref.store %z, %A[%i, %j] : memref<?x?xf64>
      }
      %bk = memref.load %b[%k] : memref<?xf64>
      %bi = memref.load %b[%i] : memref<?xf64>
      %w = arith.mulf %m, %bk : f64
      %z = arith.subf %bi, %w : f64
      memref.store %z, %b[%i] : memref<?xf64>
    }
  }
  scf.for %q = %c0 to %n step %c1 {
    %last = arith.subi %n, %c1 : index
    %i = arith.subi %last, %q : index
    %i1 = arith.addi %i, %c1 : index
    %s0 = memref.load %b[%i] : memref<?xf64>
    %s = scf.for %j = %i1 to %n step %c1 iter_args(%s = %s0) -> f64 {
      %a = memref.load %A[%i, %j] : memref<?x?xf64>
      %xj = memref.load %b[%j] : memref<?xf64>
      %p = arith.mulf %a, %xj : f64
      %t = arith.subf %s, %p : f64
      scf.yield %t : f64
    }
    %d = memref.load %A[%i, %i] : memref<?x?xf64>
    %r = arith.divf %s, %d : f64
    memref.store %r, %b[%i] : memref<?xf64>
  }
  %r = memref.load %b[%c0] : memref<?xf64>
  memref.dealloc %A : memref<?x?xf64>
  memref.dealloc %b : memref<?xf64>
  return %r : f64
}
