// INPUT: 0.7 7
// INPUT: 0.7 0
func.func @f(%x: f64, %n: index) -> f64 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %b = memref.alloca() : memref<8xf64>
  scf.for %i = %c0 to %n step %c3 {
    %k = arith.index_cast %i : index to i64
    %g = arith.sitofp %k : i64 to f64
    %v = arith.mulf %g, %x : f64
    %s = math.exp %v : f64
    %big = arith.cmpf ogt, %s, %g : f64
    scf.if %big {
      %t = math.sin %s : f64
      %q = arith.mulf %t, %s : f64
      memref.store %q, %b[%i] : memref<8xf64>
    } else {
      memref.store %x, %b[%i] : memref<8xf64>
    }
  }
  %r = scf.for %i = %c0 to %n step %c3 iter_args(%a = %x) -> (f64) {
    %v = memref.load %b[%i] : memref<8xf64>
    %s = arith.mulf %v, %a : f64
    scf.yield %s : f64
  }
  return %r : f64
}
