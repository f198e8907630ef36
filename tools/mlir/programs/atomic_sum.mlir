// INPUT: 1.5 0.7
func.func @f(%x: f64, %y: f64) -> f64 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c6 = arith.constant 6 : index
  %zero = arith.constant 0.0 : f64
  %m = memref.alloc() : memref<1xf64>
  memref.store %zero, %m[%c0] : memref<1xf64>
  scf.for %i = %c0 to %c6 step %c1 {
    %k = arith.index_cast %i : index to i64
    %g = arith.sitofp %k : i64 to f64
    %v = arith.mulf %g, %x : f64
    %s = math.sin %v : f64
    %old = memref.atomic_rmw addf %s, %m[%c0] : (f64, memref<1xf64>) -> f64
  }
  %r = memref.load %m[%c0] : memref<1xf64>
  %q = arith.mulf %r, %y : f64
  memref.dealloc %m : memref<1xf64>
  return %q : f64
}
