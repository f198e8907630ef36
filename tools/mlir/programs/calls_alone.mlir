// INPUT: 0.3 1.1
func.func private @deriv(%y: f64, %k: f64) -> f64 {
  %s = math.sin %y : f64
  %r = arith.mulf %s, %k : f64
  return %r : f64
}
func.func @f(%k: f64, %y0: f64) -> f64 {
  %c0 = arith.constant 0 : index
  %c10 = arith.constant 10 : index
  %c1 = arith.constant 1 : index
  %r = scf.for %i = %c0 to %c10 step %c1 iter_args(%y = %y0) -> (f64) {
    %k1 = func.call @deriv(%y, %k) : (f64, f64) -> f64
    %d1 = arith.addf %y, %k1 : f64
    %k2 = func.call @deriv(%d1, %k) : (f64, f64) -> f64
    scf.yield %k2 : f64
  }
  return %r : f64
}
