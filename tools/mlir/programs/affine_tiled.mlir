// MOST: 5.5, clang unrolls the loops of the function; 2.9 times its time
// INPUT: 0.7 -0.4
func.func @f(%x: f64, %y: f64) -> f64 {
  %zero = arith.constant 0.0 : f64
  %A = memref.alloc() : memref<7x7xf64>
  %C = memref.alloc() : memref<7x7xf64>
  affine.for %i = 0 to 7 {
    affine.for %j = 0 to 7 {
      %m = affine.apply affine_map<(d0, d1) -> (d0 * 7 + d1 ceildiv 2 - d1 mod 4)>(%i, %j)
      %k = arith.index_cast %m : index to i64
      %g = arith.sitofp %k : i64 to f64
      %a = arith.mulf %g, %x : f64
      %s = math.sin %a : f64
      affine.store %s, %A[%i, %j] : memref<7x7xf64>
      affine.store %zero, %C[%i, %j] : memref<7x7xf64>
    }
  }
  affine.for %ii = 0 to 7 step 3 {
    affine.for %jj = 0 to 7 step 4 {
      affine.for %i = affine_map<(d0) -> (d0)>(%ii) to min affine_map<(d0) -> (d0 + 3, 7)>(%ii) {
        affine.for %j = affine_map<(d0) -> (d0)>(%jj) to min affine_map<(d0) -> (d0 + 4, 7)>(%jj) {
          affine.for %k = 0 to 7 {
            %a = affine.load %A[%i, %k] : memref<7x7xf64>
            %b = affine.load %A[%k, %j] : memref<7x7xf64>
            %c = affine.load %C[%i, %j] : memref<7x7xf64>
            %p = arith.mulf %a, %b : f64
            %q = arith.mulf %p, %y : f64
            %s = arith.addf %c, %q : f64
            affine.store %s, %C[%i, %j] : memref<7x7xf64>
          }
        }
      }
    }
  }
  %r = affine.load %C[2, 3] : memref<7x7xf64>
  %q = affine.load %C[6, 6] : memref<7x7xf64>
  %s = arith.addf %r, %q : f64
  return %s : f64
}
