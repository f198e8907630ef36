// INPUT: 0.3 3
// INPUT: 1.1 6
// TIME: 0.3 2000
func.func @f(%x: f64, %n: index) -> f64 {
  %c0 = arith.constant 0 : index
  %c2 = arith.constant 2 : index
  %zero = arith.constant 0.0 : f64
  %s:2 = scf.for %i = %c0 to %n step %c2 iter_args(%a = %zero, %p = %x) -> (f64, f64) {
    %k = arith.index_cast %i : index to i64
    %f = arith.sitofp %k : i64 to f64
    %t = arith.mulf %p, %f : f64
    %b = arith.addf %a, %t : f64
    %q = arith.mulf %p, %x : f64
    scf.yield %b, %q : f64, f64
  }
  return %s#0 : f64
}
