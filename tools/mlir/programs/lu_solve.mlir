// INPUT: 0.7 0.2
// LU decomposition in place without pivoting, then forward and back substitution.
func.func private @lu(%a: memref<5x5xf64>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = memref.dim %a, %c0 : memref<5x5xf64>
  scf.for %k = %c0 to %n step %c1 {
    %k1 = arith.addi %k, %c1 : index
    %p = memref.load %a[%k, %k] : memref<5x5xf64>
    scf.for %i = %k1 to %n step %c1 {
      %u = memref.load %a[%i, %k] : memref<5x5xf64>
      %l = arith.divf %u, %p : f64
      memref.store %l, %a[%i, %k] : memref<5x5xf64>
      scf.for %j = %k1 to %n step %c1 {
        %v = memref.load %a[%i, %j] : memref<5x5xf64>
        %w = memref.load %a[%k, %j] : memref<5x5xf64>
        %m = arith.mulf %l, %w : f64
        %s = arith.subf %v, %m : f64
        memref.store %s, %a[%i, %j] : memref<5x5xf64>
      }
    }
  }
  return
}
func.func private @solve(%a: memref<5x5xf64>, %b: memref<5xf64>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c5 = arith.constant 5 : index
  %c4 = arith.constant 4 : index
  scf.for %i = %c0 to %c5 step %c1 {
    %s0 = memref.load %b[%i] : memref<5xf64>
    %s = scf.for %j = %c0 to %i step %c1 iter_args(%acc = %s0) -> (f64) {
      %l = memref.load %a[%i, %j] : memref<5x5xf64>
      %v = memref.load %b[%j] : memref<5xf64>
      %m = arith.mulf %l, %v : f64
      %d = arith.subf %acc, %m : f64
      scf.yield %d : f64
    }
    memref.store %s, %b[%i] : memref<5xf64>
  }
  scf.for %k = %c0 to %c5 step %c1 {
    %i = arith.subi %c4, %k : index
    %i1 = arith.addi %i, %c1 : index
    %s0 = memref.load %b[%i] : memref<5xf64>
    %s = scf.for %j = %i1 to %c5 step %c1 iter_args(%acc = %s0) -> (f64) {
      %u = memref.load %a[%i, %j] : memref<5x5xf64>
      %v = memref.load %b[%j] : memref<5xf64>
      %m = arith.mulf %u, %v : f64
      %d = arith.subf %acc, %m : f64
      scf.yield %d : f64
    }
    %p = memref.load %a[%i, %i] : memref<5x5xf64>
    %q = arith.divf %s, %p : f64
    memref.store %q, %b[%i] : memref<5xf64>
  }
  return
}
func.func @f(%x: f64, %y: f64) -> f64 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c5 = arith.constant 5 : index
  %four = arith.constant 4.0 : f64
  %a = memref.alloc() : memref<5x5xf64>
  %b = memref.alloc() : memref<5xf64>
  scf.for %i = %c0 to %c5 step %c1 {
    scf.for %j = %c0 to %c5 step %c1 {
      %diag = arith.cmpi eq, %i, %j : index
      %p = arith.addi %i, %j : index
      %k = arith.index_cast %p : index to i32
      %g = arith.sitofp %k : i32 to f64
      %h = arith.mulf %g, %x : f64
      %e = math.sin %h : f64
      %d = arith.addf %e, %four : f64
      %v = arith.select %diag, %d, %e : f64
      memref.store %v, %a[%i, %j] : memref<5x5xf64>
    }
    memref.store %y, %b[%i] : memref<5xf64>
  }
  call @lu(%a) : (memref<5x5xf64>) -> ()
  call @solve(%a, %b) : (memref<5x5xf64>, memref<5xf64>) -> ()
  %r = memref.load %b[%c2] : memref<5xf64>
  memref.dealloc %a : memref<5x5xf64>
  memref.dealloc %b : memref<5xf64>
  return %r : f64
}
