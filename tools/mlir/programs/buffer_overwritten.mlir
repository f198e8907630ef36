// MOST: 12, clang leaves out what the function stores and nobody loads
// INPUT: 0.9 0
// INPUT: 0.9 3
func.func @f(%x: f64, %n: index) -> f64 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %m = memref.alloc(%n) : memref<?xf64>
  scf.for %i = %c0 to %n step %c1 {
    memref.store %x, %m[%i] : memref<?xf64>
  }
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%a = %x) -> (f64) {
    %v = memref.load %m[%c0] : memref<?xf64>
    %s = arith.mulf %v, %a : f64
    memref.store %s, %m[%i] : memref<?xf64>
    scf.yield %s : f64
  }
  return %r : f64
}
