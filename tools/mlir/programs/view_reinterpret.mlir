// INPUT: 0.6 -0.2
func.func @f(%x: f64, %y: f64) -> f64 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c12 = arith.constant 12 : index
  %m = memref.alloc() : memref<12xf64>
  scf.for %i = %c0 to %c12 step %c1 {
    %k = arith.index_cast %i : index to i64
    %g = arith.sitofp %k : i64 to f64
    %v = arith.mulf %g, %x : f64
    memref.store %v, %m[%i] : memref<12xf64>
  }
  %e = memref.reinterpret_cast %m to offset: [2], sizes: [3, 2], strides: [3, 1] : memref<12xf64> to memref<3x2xf64, strided<[3, 1], offset: 2>>
  %v = memref.load %e[%c2, %c1] : memref<3x2xf64, strided<[3, 1], offset: 2>>
  %w = arith.mulf %v, %y : f64
  memref.store %w, %e[%c1, %c1] : memref<3x2xf64, strided<[3, 1], offset: 2>>
  %c6 = arith.constant 6 : index
  %b = memref.load %m[%c6] : memref<12xf64>
  %r = arith.mulf %b, %v : f64
  memref.dealloc %m : memref<12xf64>
  return %r : f64
}
