// INPUT: 0.3 1.2
func.func private @deriv(%y: f64, %k: f64) -> f64 {
  %s = math.sin %y : f64
  %r = arith.mulf %s, %k : f64
  %n = arith.negf %r : f64
  return %n : f64
}
func.func @f(%k: f64, %y0: f64) -> f64 {
  %c0 = arith.constant 0 : i32
  %c10 = arith.constant 10 : i32
  %c1 = arith.constant 1 : i32
  %h = arith.constant 0.1 : f64
  %half = arith.constant 0.5 : f64
  %six = arith.constant 6.0 : f64
  %two = arith.constant 2.0 : f64
  %r = scf.for %i = %c0 to %c10 step %c1 iter_args(%y = %y0) -> (f64) : i32 {
    %k1 = func.call @deriv(%y, %k) : (f64, f64) -> f64
    %hh = arith.mulf %h, %half : f64
    %d1 = arith.mulf %hh, %k1 : f64
    %y1 = arith.addf %y, %d1 : f64
    %k2 = func.call @deriv(%y1, %k) : (f64, f64) -> f64
    %d2 = arith.mulf %hh, %k2 : f64
    %y2 = arith.addf %y, %d2 : f64
    %k3 = func.call @deriv(%y2, %k) : (f64, f64) -> f64
    %d3 = arith.mulf %h, %k3 : f64
    %y3 = arith.addf %y, %d3 : f64
    %k4 = func.call @deriv(%y3, %k) : (f64, f64) -> f64
    %a = arith.addf %k2, %k3 : f64
    %b = arith.mulf %a, %two : f64
    %c = arith.addf %k1, %b : f64
    %d = arith.addf %c, %k4 : f64
    %e = arith.mulf %d, %h : f64
    %g = arith.divf %e, %six : f64
    %yn = arith.addf %y, %g : f64
    scf.yield %yn : f64
  }
  return %r : f64
}
