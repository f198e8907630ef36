// INPUT: 0.7 -0.3 2
// INPUT: 0.4 0.9 0
// Views of views with strides, copies between them, their extents, and a cast that hides the shape.
func.func @f(%x: f64, %y: f64, %n: index) -> f64 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c8 = arith.constant 8 : index
  %m = memref.alloc() : memref<8x8xf64>
  scf.for %i = %c0 to %c8 step %c1 {
    scf.for %j = %c0 to %c8 step %c1 {
      %k = arith.muli %i, %j : index
      %q = arith.index_cast %k : index to i64
      %g = arith.sitofp %q : i64 to f64
      %v = arith.mulf %g, %x : f64
      %s = math.sin %v : f64
      memref.store %s, %m[%i, %j] : memref<8x8xf64>
    }
  }
  %a = memref.subview %m[%n, 1] [4, 3] [1, 2] : memref<8x8xf64> to memref<4x3xf64, strided<[8, 2], offset: ?>>
  %b = memref.subview %a[1, 0] [%c2, 3] [1, 1] : memref<4x3xf64, strided<[8, 2], offset: ?>> to memref<?x3xf64, strided<[8, 2], offset: ?>>
  %row = memref.subview %b[1, 0] [1, 3] [1, 1] : memref<?x3xf64, strided<[8, 2], offset: ?>> to memref<3xf64, strided<[2], offset: ?>>
  %loose = memref.cast %row : memref<3xf64, strided<[2], offset: ?>> to memref<?xf64, strided<[?], offset: ?>>
  %len = memref.dim %loose, %c0 : memref<?xf64, strided<[?], offset: ?>>
  scf.for %i = %c0 to %len step %c1 {
    %v = memref.load %loose[%i] : memref<?xf64, strided<[?], offset: ?>>
    %w = arith.mulf %v, %y : f64
    memref.store %w, %loose[%i] : memref<?xf64, strided<[?], offset: ?>>
  }
  %from = memref.subview %b[0, 0] [1, 3] [1, 1] : memref<?x3xf64, strided<[8, 2], offset: ?>> to memref<3xf64, strided<[2], offset: ?>>
  %to = memref.subview %m[0, 7] [3, 1] [2, 1] : memref<8x8xf64> to memref<3xf64, strided<[16], offset: 7>>
  memref.copy %from, %to : memref<3xf64, strided<[2], offset: ?>> to memref<3xf64, strided<[16], offset: 7>>
  %h = memref.dim %b, %c0 : memref<?x3xf64, strided<[8, 2], offset: ?>>
  %z = arith.constant 1.0 : f64
  %r = scf.for %i = %c0 to %c8 step %c1 iter_args(%p = %z) -> (f64) {
    %j = arith.remui %i, %h : index
    %k = arith.subi %c8, %j : index
    %l = arith.subi %k, %c1 : index
    %e = memref.load %m[%i, %l] : memref<8x8xf64>
    %s = arith.addf %p, %e : f64
    %t = arith.mulf %s, %e : f64
    %u = arith.addf %t, %p : f64
    scf.yield %u : f64
  }
  memref.dealloc %m : memref<8x8xf64>
  return %r : f64
}
