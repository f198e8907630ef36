// MOST: 5.5, clang unrolls the loops of the function
// INPUT: 0.5 1.5
// Cholesky's decomposition with affine bounds.
func.func @f(%x: f64, %y: f64) -> f64 {
  %a = memref.alloca() : memref<5x5xf64>
  %four = arith.constant 6.0 : f64
  affine.for %i = 0 to 5 {
    affine.for %j = 0 to 5 {
      affine.store %x, %a[%i, %j] : memref<5x5xf64>
    }
    %d = arith.addf %y, %four : f64
    affine.store %d, %a[%i, %i] : memref<5x5xf64>
  }
  affine.for %j = 0 to 5 {
    %d0 = affine.load %a[%j, %j] : memref<5x5xf64>
    %d = affine.for %k = 0 to affine_map<(d0) -> (d0)>(%j) iter_args(%s = %d0) -> (f64) {
      %l = affine.load %a[%j, %k] : memref<5x5xf64>
      %q = arith.mulf %l, %l : f64
      %n = arith.subf %s, %q : f64
      affine.yield %n : f64
    }
    %r = math.sqrt %d : f64
    affine.store %r, %a[%j, %j] : memref<5x5xf64>
    affine.for %i = affine_map<(d0) -> (d0 + 1)>(%j) to 5 {
      %e0 = affine.load %a[%i, %j] : memref<5x5xf64>
      %e = affine.for %k = 0 to affine_map<(d0) -> (d0)>(%j) iter_args(%s = %e0) -> (f64) {
        %u = affine.load %a[%i, %k] : memref<5x5xf64>
        %v = affine.load %a[%j, %k] : memref<5x5xf64>
        %q = arith.mulf %u, %v : f64
        %n = arith.subf %s, %q : f64
        affine.yield %n : f64
      }
      %z = arith.divf %e, %r : f64
      affine.store %z, %a[%i, %j] : memref<5x5xf64>
    }
  }
  %r = affine.load %a[4, 4] : memref<5x5xf64>
  %s = affine.load %a[4, 1] : memref<5x5xf64>
  %t = arith.mulf %r, %s : f64
  return %t : f64
}
