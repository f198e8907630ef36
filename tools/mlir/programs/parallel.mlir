// INPUT: 0.5 6
func.func @f(%x: f64, %n: index) -> f64 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %z = arith.constant 0.0 : f64
  %b = memref.alloc(%n) : memref<?xf64>
  scf.parallel (%i) = (%c0) to (%n) step (%c1) {
    %k = arith.index_cast %i : index to i64
    %g = arith.sitofp %k : i64 to f64
    %v = arith.mulf %g, %x : f64
    %s = math.sin %v : f64
    memref.store %s, %b[%i] : memref<?xf64>
    scf.reduce
  }
  %r = scf.parallel (%i) = (%c0) to (%n) step (%c1) init (%z) -> f64 {
    %v = memref.load %b[%i] : memref<?xf64>
    %w = arith.mulf %v, %v : f64
    scf.reduce(%w : f64) {
    ^bb0(%l: f64, %q: f64):
      %s = arith.addf %l, %q : f64
      scf.reduce.return %s : f64
    }
  }
  memref.dealloc %b : memref<?xf64>
  return %r : f64
}
