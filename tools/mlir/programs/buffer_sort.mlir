// INPUT: 0.4 1.3
// INPUT: 2.1 0.2
// Values are sorted in place by comparing neighbours; the middle ones go into the result.
func.func @f(%x: f64, %y: f64) -> f64 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c5 = arith.constant 5 : index
  %c6 = arith.constant 6 : index
  %b = memref.alloca() : memref<6xf64>
  scf.for %i = %c0 to %c6 step %c1 {
    %k = arith.index_cast %i : index to i64
    %w = arith.sitofp %k : i64 to f64
    %v = arith.mulf %x, %w : f64
    %u = math.sin %v : f64
    %t = arith.mulf %u, %y : f64
    memref.store %t, %b[%i] : memref<6xf64>
  }
  scf.for %r = %c0 to %c6 step %c1 {
    scf.for %i = %c0 to %c5 step %c1 {
      %j = arith.addi %i, %c1 : index
      %p = memref.load %b[%i] : memref<6xf64>
      %q = memref.load %b[%j] : memref<6xf64>
      %g = arith.cmpf ogt, %p, %q : f64
      scf.if %g {
        memref.store %q, %b[%i] : memref<6xf64>
        memref.store %p, %b[%j] : memref<6xf64>
      }
    }
  }
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %s = memref.load %b[%c2] : memref<6xf64>
  %t = memref.load %b[%c3] : memref<6xf64>
  %m = arith.mulf %s, %t : f64
  %z = arith.addf %m, %s : f64
  return %z : f64
}
