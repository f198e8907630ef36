// UNTIMED: clang computes most of the function when it compiles it
// INPUT: 0.7 -0.3
func.func @f(%x: f64, %y: f64) -> f64 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c4 = arith.constant 4 : index
  %m = memref.alloc() : memref<4x4xf64>
  scf.for %i = %c0 to %c4 step %c1 {
    scf.for %j = %c0 to %c4 step %c1 {
      %k = arith.addi %i, %j : index
      %q = arith.index_cast %k : index to i64
      %g = arith.sitofp %q : i64 to f64
      %v = arith.mulf %g, %x : f64
      memref.store %v, %m[%i, %j] : memref<4x4xf64>
    }
  }
  scf.for %i = %c1 to %c4 step %c1 {
    %row = memref.subview %m[%i, 0] [1, 4] [1, 1] : memref<4x4xf64> to memref<4xf64, strided<[1], offset: ?>>
    %v = memref.load %row[%c2] : memref<4xf64, strided<[1], offset: ?>>
    %w = arith.mulf %v, %y : f64
    memref.store %w, %row[%c1] : memref<4xf64, strided<[1], offset: ?>>
  }
  %a = memref.load %m[%c2, %c1] : memref<4x4xf64>
  %b = memref.load %m[%c1, %c1] : memref<4x4xf64>
  %s = arith.mulf %a, %b : f64
  memref.dealloc %m : memref<4x4xf64>
  return %s : f64
}
