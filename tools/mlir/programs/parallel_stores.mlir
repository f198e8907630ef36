// INPUT: 0.5 1.5
func.func @f(%x: f64, %y: f64) -> f64 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c8 = arith.constant 8 : index
  %zero = arith.constant 0.0 : f64
  %m = memref.alloc() : memref<8x8xf64>
  scf.parallel (%i, %j) = (%c0, %c0) to (%c8, %c8) step (%c1, %c1) {
    %p = arith.addi %i, %j : index
    %k = arith.index_cast %p : index to i64
    %g = arith.sitofp %k : i64 to f64
    %a = arith.mulf %g, %x : f64
    %s = math.sin %a : f64
    memref.store %s, %m[%i, %j] : memref<8x8xf64>
    scf.reduce
  }
  %r = scf.parallel (%i) = (%c0) to (%c8) step (%c2) init (%zero) -> f64 {
    %v = memref.load %m[%i, %i] : memref<8x8xf64>
    %w = arith.mulf %v, %y : f64
    scf.reduce(%w : f64) {
    ^bb0(%a: f64, %b: f64):
      %s = arith.addf %a, %b : f64
      scf.reduce.return %s : f64
    }
  }
  memref.dealloc %m : memref<8x8xf64>
  return %r : f64
}
