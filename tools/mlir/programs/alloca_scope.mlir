// INPUT: 1.5 0.7
func.func @f(%x: f64, %y: f64) -> f64 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %r = scf.for %i = %c0 to %c4 step %c1 iter_args(%a = %x) -> (f64) {
    %v = memref.alloca_scope -> (f64) {
      %m = memref.alloca() : memref<2xf64>
      memref.store %a, %m[%c0] : memref<2xf64>
      memref.store %y, %m[%c1] : memref<2xf64>
      %p = memref.load %m[%c0] : memref<2xf64>
      %q = memref.load %m[%c1] : memref<2xf64>
      %s = arith.mulf %p, %q : f64
      memref.alloca_scope.return %s : f64
    }
    %w = math.tanh %v : f64
    %z = arith.divf %w, %y : f64
    scf.yield %z : f64
  }
  return %r : f64
}
