// INPUT: 2.0
// INPUT: 9.0
// INPUT: 0.3
func.func @f(%x: f64) -> f64 {
  %half = arith.constant 0.5 : f64
  %eps = arith.constant 1.0e-12 : f64
  %r = scf.while (%y = %x) : (f64) -> f64 {
    %s = arith.mulf %y, %y : f64
    %d = arith.subf %s, %x : f64
    %e = math.absf %d : f64
    %go = arith.cmpf ogt, %e, %eps : f64
    scf.condition(%go) %y : f64
  } do {
  ^bb0(%y: f64):
    %q = arith.divf %x, %y : f64
    %t = arith.addf %y, %q : f64
    %z = arith.mulf %t, %half : f64
    scf.yield %z : f64
  }
  return %r : f64
}
