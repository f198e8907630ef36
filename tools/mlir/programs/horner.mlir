// INPUT: 0.7 4
// INPUT: -1.3 0
#loc = loc("poly.c":3:1)
func.func @f(%x: f64, %n: index) -> f64 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %cst = arith.constant 0.000000e+00 : f64
  %r:2 = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %cst, %k = %x) -> (f64, f64) {
    %0 = arith.mulf %acc, %x fastmath<none> : f64
    %1 = arith.addf %0, %k : f64 loc(#loc)
    %2 = arith.divf %k, %1 : f64
    scf.yield %1, %2 : f64, f64
  }
  %s = arith.addf %r#0, %r#1 : f64
  return %s : f64
}
