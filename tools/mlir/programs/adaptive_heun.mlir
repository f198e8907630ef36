// INPUT: 0.7 0.2
// INPUT: 1.1 0.4
// Heun's method for y' = sin(y) - a t, with steps chosen by the estimated error, to the time 1.
func.func @f(%a: f64, %b: f64) -> f64 {
  %zero = arith.constant 0.0 : f64
  %one = arith.constant 1.0 : f64
  %half = arith.constant 0.5 : f64
  %h0 = arith.constant 0.25 : f64
  %grow = arith.constant 1.5 : f64
  %tol = arith.constant 3.0e-4 : f64
  %y:3 = scf.while (%t = %zero, %y = %b, %h = %h0) : (f64, f64, f64) -> (f64, f64, f64) {
    %go = arith.cmpf olt, %t, %one : f64
    scf.condition(%go) %t, %y, %h : f64, f64, f64
  } do {
  ^bb0(%t: f64, %y: f64, %h1: f64):
    %left = arith.subf %one, %t : f64
    %h = arith.minimumf %h1, %left : f64
    %s1 = math.sin %y : f64
    %at1 = arith.mulf %a, %t : f64
    %k1 = arith.subf %s1, %at1 : f64
    %hk1 = arith.mulf %h, %k1 : f64
    %e = arith.addf %y, %hk1 : f64
    %t2 = arith.addf %t, %h : f64
    %s2 = math.sin %e : f64
    %at2 = arith.mulf %a, %t2 : f64
    %k2 = arith.subf %s2, %at2 : f64
    %k = arith.addf %k1, %k2 : f64
    %hh = arith.mulf %h, %half : f64
    %d = arith.mulf %hh, %k : f64
    %n = arith.addf %y, %d : f64
    %err0 = arith.subf %n, %e : f64
    %err = math.absf %err0 : f64
    %bad = arith.cmpf ogt, %err, %tol : f64
    %r:3 = scf.if %bad -> (f64, f64, f64) {
      scf.yield %t, %y, %hh : f64, f64, f64
    } else {
      %g = arith.mulf %h, %grow : f64
      scf.yield %t2, %n, %g : f64, f64, f64
    }
    scf.yield %r#0, %r#1, %r#2 : f64, f64, f64
  }
  return %y#1 : f64
}
