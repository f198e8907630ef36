// INPUT: 0.9 3
memref.global "private" constant @table : memref<4xf64> = dense<[0.5, 1.5, -2.0, 3.0]>
func.func @f(%x: f64, %n: index) -> f64 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f64
  %g = memref.get_global @table : memref<4xf64>
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%a = %zero) -> (f64) {
    %c = memref.load %g[%i] : memref<4xf64>
    %b = arith.mulf %a, %x : f64
    %s = arith.addf %b, %c : f64
    scf.yield %s : f64
  }
  return %r : f64
}
