// INPUT: 0.7 4
func.func @f(%x: f64, %n: index) -> f64 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %five = arith.constant 5.0 : f64
  %zero = arith.constant 0.0 : f64
  %a = memref.alloc(%n, %n) : memref<?x?xf64>
  %b = memref.alloc(%n) : memref<?xf64>
  scf.for %i = %c0 to %n step %c1 {
    memref.store %x, %b[%i] : memref<?xf64>
    scf.for %j = %c0 to %n step %c1 {
      %k = arith.addi %i, %j : index
      %q = arith.index_cast %k : index to i64
      %g = arith.sitofp %q : i64 to f64
      %v = arith.mulf %g, %x : f64
      %s = math.sin %v : f64
      %e = arith.cmpi eq, %i, %j : index
      %d = arith.select %e, %five, %zero : f64
      %w = arith.addf %s, %d : f64
      memref.store %w, %a[%i, %j] : memref<?x?xf64>
    }
  }
  scf.for %k = %c0 to %n step %c1 {
    %k1 = arith.addi %k, %c1 : index
    %p = memref.load %a[%k, %k] : memref<?x?xf64>
    scf.for %i = %k1 to %n step %c1 {
      %q = memref.load %a[%i, %k] : memref<?x?xf64>
      %m = arith.divf %q, %p : f64
      memref.store %m, %a[%i, %k] : memref<?x?xf64>
      scf.for %j = %k1 to %n step %c1 {
        %u = memref.load %a[%i, %j] : memref<?x?xf64>
        %v = memref.load %a[%k, %j] : memref<?x?xf64>
        %w = arith.mulf %m, %v : f64
        %z = arith.subf %u, %w : f64
        memref.store %z, %a[%i, %j] : memref<?x?xf64>
      }
      %bi = memref.load %b[%i] : memref<?xf64>
      %bk = memref.load %b[%k] : memref<?xf64>
      %w = arith.mulf %m, %bk : f64
      %z = arith.subf %bi, %w : f64
      memref.store %z, %b[%i] : memref<?xf64>
    }
  }
  %last = arith.subi %n, %c1 : index
  scf.for %t = %c0 to %n step %c1 {
    %i = arith.subi %last, %t : index
    %i1 = arith.addi %i, %c1 : index
    %bi = memref.load %b[%i] : memref<?xf64>
    %s = scf.for %j = %i1 to %n step %c1 iter_args(%acc = %bi) -> (f64) {
      %u = memref.load %a[%i, %j] : memref<?x?xf64>
      %v = memref.load %b[%j] : memref<?xf64>
      %w = arith.mulf %u, %v : f64
      %z = arith.subf %acc, %w : f64
      scf.yield %z : f64
    }
    %d = memref.load %a[%i, %i] : memref<?x?xf64>
    %q = arith.divf %s, %d : f64
    memref.store %q, %b[%i] : memref<?xf64>
  }
  %r = memref.load %b[%c0] : memref<?xf64>
  memref.dealloc %a : memref<?x?xf64>
  memref.dealloc %b : memref<?xf64>
  return %r : f64
}
