// INPUT: 1.25 -0.75 1
// INPUT: 1.25 -0.75 3
// A window that moves over a matrix, of dynamic offset.
func.func @f(%x: f64, %y: f64, %n: index) -> f64 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c8 = arith.constant 8 : index
  %zero = arith.constant 0.0 : f64
  %m = memref.alloc() : memref<8x8xf64>
  affine.for %i = 0 to 8 {
    affine.for %j = 0 to 8 {
      %p = affine.apply affine_map<(d0, d1) -> (d0 * 8 + d1)>(%i, %j)
      %k = arith.index_cast %p : index to i64
      %g = arith.sitofp %k : i64 to f64
      %v = arith.mulf %g, %x : f64
      %s = math.sin %v : f64
      affine.store %s, %m[%i, %j] : memref<8x8xf64>
    }
  }
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %zero) -> (f64) {
    %w = memref.subview %m[%i, %c2] [3, 3] [1, 2] : memref<8x8xf64> to memref<3x3xf64, strided<[8, 2], offset: ?>>
    %d = memref.subview %w[0, 1] [3, 1] [1, 1] : memref<3x3xf64, strided<[8, 2], offset: ?>> to memref<3xf64, strided<[8], offset: ?>>
    %a = memref.load %w[%c1, %c2] : memref<3x3xf64, strided<[8, 2], offset: ?>>
    %b = memref.load %d[%c2] : memref<3xf64, strided<[8], offset: ?>>
    %t = arith.mulf %a, %b : f64
    memref.store %t, %d[%c0] : memref<3xf64, strided<[8], offset: ?>>
    %u = arith.mulf %t, %y : f64
    %s = arith.addf %acc, %u : f64
    scf.yield %s : f64
  }
  memref.dealloc %m : memref<8x8xf64>
  return %r : f64
}
