// INPUT: 0.7 0.2
// INPUT: -1.1 0.4
// Weights are added to bins that the data chooses, two-dimensional and through a view; then an entropy of them.
func.func @f(%a: f64, %b: f64) -> f64 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %c20 = arith.constant 20 : index
  %zero = arith.constant 0.0 : f64
  %two = arith.constant 2.0 : f64
  %one = arith.constant 1.0 : f64
  %bins = memref.alloc() : memref<2x3xf64>
  linalg.fill ins(%one : f64) outs(%bins : memref<2x3xf64>)
  %row = memref.subview %bins[1, 0] [1, 3] [1, 1] : memref<2x3xf64> to memref<3xf64, strided<[1], offset: 3>>
  scf.for %i = %c0 to %c20 step %c1 {
    %i64 = arith.index_cast %i : index to i64
    %x = arith.sitofp %i64 : i64 to f64
    %p = arith.mulf %x, %b : f64
    %s = math.sin %p : f64
    %q = arith.mulf %s, %a : f64
    %e = math.exp %q : f64
    %k = arith.remui %i, %c3 : index
    %pos = arith.cmpf oge, %q, %zero : f64
    scf.if %pos {
      %old = memref.load %row[%k] : memref<3xf64, strided<[1], offset: 3>>
      %new = arith.addf %old, %e : f64
      memref.store %new, %row[%k] : memref<3xf64, strided<[1], offset: 3>>
    } else {
      %old = memref.load %bins[%c0, %k] : memref<2x3xf64>
      %new = arith.addf %old, %e : f64
      memref.store %new, %bins[%c0, %k] : memref<2x3xf64>
    }
  }
  %sum = scf.for %i = %c0 to %c3 step %c1 iter_args(%s = %zero) -> f64 {
    %v = memref.load %bins[%c0, %i] : memref<2x3xf64>
    %w = memref.load %bins[%c1, %i] : memref<2x3xf64>
    %l = math.log %v : f64
    %m = math.log1p %w : f64
    %lm = arith.mulf %l, %m : f64
    %t = arith.addf %s, %lm : f64
    scf.yield %t : f64
  }
  memref.dealloc %bins : memref<2x3xf64>
  return %sum : f64
}
