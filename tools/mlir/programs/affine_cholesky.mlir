// MOST: 5.5, clang unrolls the loops of the function
// INPUT: 0.7 0.2
// INPUT: -1.1 0.4
// Cholesky's factorization in affine loops, in place, and the logarithm of the determinant.
func.func @f(%a: f64, %b: f64) -> f64 {
  %five = arith.constant 5.0 : f64
  %zero = arith.constant 0.0 : f64
  %m = memref.alloc() : memref<4x4xf64>
  affine.for %i = 0 to 4 {
    affine.for %j = 0 to 4 {
      %k = affine.apply affine_map<(d0, d1) -> (d0 + d1 + 1)>(%i, %j)
      %k64 = arith.index_cast %k : index to i64
      %f = arith.sitofp %k64 : i64 to f64
      %p = arith.mulf %f, %a : f64
      %s = math.cos %p : f64
      %t = arith.mulf %s, %b : f64
      affine.store %t, %m[%i, %j] : memref<4x4xf64>
    }
    %d = affine.load %m[%i, %i] : memref<4x4xf64>
    %e = arith.addf %d, %five : f64
    affine.store %e, %m[%i, %i] : memref<4x4xf64>
  }
  affine.for %j = 0 to 4 {
    %s = affine.for %k = 0 to affine_map<(d0) -> (d0)>(%j) iter_args(%acc = %zero) -> (f64) {
      %l = affine.load %m[%j, %k] : memref<4x4xf64>
      %q = arith.mulf %l, %l : f64
      %n = arith.addf %acc, %q : f64
      affine.yield %n : f64
    }
    %d = affine.load %m[%j, %j] : memref<4x4xf64>
    %e = arith.subf %d, %s : f64
    %r = math.sqrt %e : f64
    affine.store %r, %m[%j, %j] : memref<4x4xf64>
    affine.for %i = affine_map<(d0) -> (d0 + 1)>(%j) to 4 {
      %t = affine.for %k = 0 to affine_map<(d0) -> (d0)>(%j) iter_args(%acc = %zero) -> (f64) {
        %l = affine.load %m[%i, %k] : memref<4x4xf64>
        %o = affine.load %m[%j, %k] : memref<4x4xf64>
        %q = arith.mulf %l, %o : f64
        %n = arith.addf %acc, %q : f64
        affine.yield %n : f64
      }
      %v = affine.load %m[%i, %j] : memref<4x4xf64>
      %w = arith.subf %v, %t : f64
      %x = arith.divf %w, %r : f64
      affine.store %x, %m[%i, %j] : memref<4x4xf64>
    }
  }
  %sum = affine.for %i = 0 to 4 iter_args(%acc = %zero) -> (f64) {
    %l = affine.load %m[%i, %i] : memref<4x4xf64>
    %g = math.log %l : f64
    %n = arith.addf %acc, %g : f64
    affine.yield %n : f64
  }
  memref.dealloc %m : memref<4x4xf64>
  return %sum : f64
}
