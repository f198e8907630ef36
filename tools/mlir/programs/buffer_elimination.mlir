// INPUT: 0.7 6
// Elimination without pivots in a buffer of rows.
func.func @f(%x: f64, %n: index) -> f64 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %one = arith.constant 1.0 : f64
  %a = memref.alloc(%n, %n) : memref<?x?xf64>
  scf.for %i = %c0 to %n step %c1 {
    scf.for %j = %c0 to %n step %c1 {
      %k = arith.muli %i, %j : index
      %q = arith.index_cast %k : index to i64
      %g = arith.sitofp %q : i64 to f64
      %v0 = arith.mulf %g, %x : f64
      %v = arith.addf %v0, %one : f64
      %e = arith.cmpi eq, %i, %j : index
      %nn = arith.index_cast %n : index to i64
      %ng = arith.sitofp %nn : i64 to f64
      %d = arith.select %e, %ng, %one : f64
      %w = arith.divf %d, %v : f64
      %p = arith.cmpi eq, %k, %c0 : index
      %s = arith.select %p, %d, %w : f64
      memref.store %s, %a[%i, %j] : memref<?x?xf64>
    }
  }
  scf.for %k = %c0 to %n step %c1 {
    %k1 = arith.addi %k, %c1 : index
    scf.for %i = %k1 to %n step %c1 {
      %p = memref.load %a[%k, %k] : memref<?x?xf64>
      %q = memref.load %a[%i, %k] : memref<?x?xf64>
      %m = arith.divf %q, %p : f64
      scf.for %j = %k to %n step %c1 {
        %u = memref.load %a[%i, %j] : memref<?x?xf64>
        %v = memref.load %a[%k, %j] : memref<?x?xf64>
        %w = arith.mulf %m, %v : f64
        %z = arith.subf %u, %w : f64
        memref.store %z, %a[%i, %j] : memref<?x?xf64>
      }
    }
  }
  %l = arith.subi %n, %c1 : index
  %r = memref.load %a[%l, %l] : memref<?x?xf64>
  memref.dealloc %a : memref<?x?xf64>
  return %r : f64
}
