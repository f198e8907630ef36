// INPUT: 2.0 40
func.func @f(%x: f64, %n: index) -> f64 {
  %zero = arith.constant 0.0 : f64
  %half = arith.constant 0.5 : f64
  %tol = arith.constant 1.0e-3 : f64
  %c3 = arith.constant 3.0 : f64
  %r:2 = scf.while (%lo = %zero, %hi = %c3) : (f64, f64) -> (f64, f64) {
    %d = arith.subf %hi, %lo : f64
    %go = arith.cmpf ogt, %d, %tol : f64
    scf.condition(%go) %lo, %hi : f64, f64
  } do {
  ^bb0(%lo: f64, %hi: f64):
    %s = arith.addf %lo, %hi : f64
    %m = arith.mulf %s, %half : f64
    %sq = arith.mulf %m, %m : f64
    %below = arith.cmpf olt, %sq, %x : f64
    %l:2 = scf.if %below -> (f64, f64) {
      scf.yield %m, %hi : f64, f64
    } else {
      scf.yield %lo, %m : f64, f64
    }
    scf.yield %l#0, %l#1 : f64, f64
  }
  // One Newton step, which has a derivative.
  %q = arith.divf %x, %r#0 : f64
  %t = arith.addf %q, %r#0 : f64
  %u = arith.mulf %t, %half : f64
  return %u : f64
}
