// INPUT: 0.4 0.9
func.func @f(%x: f64, %y: f64) -> f64 {
  %m = memref.alloc() : memref<6x6xf64>
  affine.parallel (%i, %j) = (0, 0) to (6, 6) {
    %k = affine.apply affine_map<(d0, d1) -> (d0 * 2 + d1)>(%i, %j)
    %c = arith.index_cast %k : index to i64
    %v = arith.sitofp %c : i64 to f64
    %w = arith.mulf %v, %x : f64
    affine.store %w, %m[%i, %j] : memref<6x6xf64>
  }
  %r = affine.parallel (%i, %j) = (0, 1) to (6, 5) step (2, 1) reduce ("addf") -> f64 {
    %v = affine.load %m[%i, %j] : memref<6x6xf64>
    %w = arith.mulf %v, %y : f64
    %u = math.sin %w : f64
    affine.yield %u : f64
  }
  return %r : f64
}
