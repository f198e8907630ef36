// INPUT: 0.5 0.7 4
// INPUT: 0.9 0.2 0
// TIME: 0.5 0.7 1000
func.func @f(%x: f64, %y: f64, %n: index) -> f64 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %s:2 = scf.for %i = %c0 to %n step %c1 iter_args(%a = %x, %b = %y) -> (f64, f64) {
    %e = math.exp %x : f64
    %f = arith.mulf %e, %a : f64
    %g = arith.addf %f, %y : f64
    %h = math.sin %g : f64
    scf.yield %b, %h : f64, f64
  }
  %r = arith.mulf %s#0, %s#1 : f64
  return %r : f64
}
