// INPUT: 0.7 0.2
// INPUT: -1.1 0.4
// Dynamic time warping of two sequences: a table of minima.
func.func @f(%a: f64, %b: f64) -> f64 {
  %inf = arith.constant 1.0e30 : f64
  %zero = arith.constant 0.0 : f64
  %t = memref.alloc() : memref<6x6xf64>
  affine.for %i = 0 to 6 {
    affine.for %j = 0 to 6 {
      affine.store %inf, %t[%i, %j] : memref<6x6xf64>
    }
  }
  affine.store %zero, %t[0, 0] : memref<6x6xf64>
  affine.for %i = 1 to 6 {
    affine.for %j = 1 to 6 {
      %i64 = arith.index_cast %i : index to i64
      %j64 = arith.index_cast %j : index to i64
      %x = arith.sitofp %i64 : i64 to f64
      %y = arith.sitofp %j64 : i64 to f64
      %xa = arith.mulf %x, %a : f64
      %yb = arith.mulf %y, %b : f64
      %s = math.sin %xa : f64
      %c = math.cos %yb : f64
      %d = arith.subf %s, %c : f64
      %dd = arith.mulf %d, %d : f64
      %n = affine.load %t[%i - 1, %j] : memref<6x6xf64>
      %w = affine.load %t[%i, %j - 1] : memref<6x6xf64>
      %nw = affine.load %t[%i - 1, %j - 1] : memref<6x6xf64>
      %m0 = arith.minimumf %n, %w : f64
      %m = arith.minnumf %m0, %nw : f64
      %v = arith.addf %m, %dd : f64
      affine.store %v, %t[%i, %j] : memref<6x6xf64>
    }
  }
  %r = affine.load %t[5, 5] : memref<6x6xf64>
  memref.dealloc %t : memref<6x6xf64>
  return %r : f64
}
