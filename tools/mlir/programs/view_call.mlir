// INPUT: 0.7 4
// A function over rows, called with views.
func.func private @scale(%a: f64, %row: memref<?xf64, strided<[1], offset: ?>>) -> f64 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f64
  %n = memref.dim %row, %c0 : memref<?xf64, strided<[1], offset: ?>>
  %s = scf.for %i = %c0 to %n step %c1 iter_args(%s = %zero) -> (f64) {
    %v = memref.load %row[%i] : memref<?xf64, strided<[1], offset: ?>>
    %w = arith.mulf %v, %a : f64
    %c = math.cos %w : f64
    memref.store %c, %row[%i] : memref<?xf64, strided<[1], offset: ?>>
    %t = arith.addf %s, %c : f64
    scf.yield %t : f64
  }
  return %s : f64
}
func.func @f(%x: f64, %n: index) -> f64 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f64
  %m = memref.alloc(%n, %n) : memref<?x?xf64>
  linalg.fill ins(%x : f64) outs(%m : memref<?x?xf64>)
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %zero) -> (f64) {
    %row = memref.subview %m[%i, 0] [1, %n] [1, 1] : memref<?x?xf64> to memref<?xf64, strided<[1], offset: ?>>
    %q = func.call @scale(%x, %row) : (f64, memref<?xf64, strided<[1], offset: ?>>) -> f64
    %p = func.call @scale(%q, %row) : (f64, memref<?xf64, strided<[1], offset: ?>>) -> f64
    %s = arith.addf %acc, %p : f64
    scf.yield %s : f64
  }
  memref.dealloc %m : memref<?x?xf64>
  return %r : f64
}
