// INPUT: 0.7 0.2 11
// INPUT: -1.1 0.4 2
// A delayed recurrence: the last four values are in a ring, of which places are taken modulo four.
func.func @f(%a: f64, %b: f64, %n: index) -> f64 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %ring = memref.alloca() : memref<4xf64>
  affine.for %i = 0 to 4 {
    affine.store %a, %ring[%i] : memref<4xf64>
  }
  %x = scf.for %t = %c0 to %n step %c1 iter_args(%x = %b) -> (f64) {
    %at = arith.remui %t, %c4 : index
    %delayed = memref.load %ring[%at] : memref<4xf64>
    memref.store %x, %ring[%at] : memref<4xf64>
    %s = math.sin %delayed : f64
    %p = arith.mulf %x, %a : f64
    %y = arith.addf %s, %p : f64
    %e = math.tanh %y : f64
    scf.yield %e : f64
  }
  %r = memref.load %ring[%c1] : memref<4xf64>
  %o = arith.addf %r, %x : f64
  return %o : f64
}
