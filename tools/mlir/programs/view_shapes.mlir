// MOST: 6.5, clang removes most elements of the function, which nobody loads, and their sines
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
    %s = math.sin %v : f64
    memref.store %s, %m[%i] : memref<12xf64>
  }
  %e = memref.expand_shape %m [[0, 1]] output_shape [3, 4] : memref<12xf64> into memref<3x4xf64>
  %v = memref.load %e[%c2, %c1] : memref<3x4xf64>
  %w = arith.mulf %v, %y : f64
  memref.store %w, %e[%c1, %c2] : memref<3x4xf64>
  %z = memref.collapse_shape %e [[0, 1]] : memref<3x4xf64> into memref<12xf64>
  %c6 = arith.constant 6 : index
  %c5 = arith.constant 5 : index
  %a = memref.load %z[%c6] : memref<12xf64>
  %b = memref.load %m[%c5] : memref<12xf64>
  %r = arith.mulf %a, %b : f64
  memref.dealloc %m : memref<12xf64>
  return %r : f64
}
