// INPUT: 0.9 3
// INPUT: -0.4 6
// TIME: 0.9 1000
func.func private @power(%x: f64, %n: index) -> f64 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %one = arith.constant 1.0 : f64
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%a = %one) -> (f64) {
    %s = math.cos %a : f64
    %b = arith.mulf %s, %x : f64
    scf.yield %b : f64
  }
  return %r : f64
}
func.func @f(%x: f64, %n: index) -> f64 {
  %a = call @power(%x, %n) : (f64, index) -> f64
  %y = arith.mulf %a, %x : f64
  %b = call @power(%y, %n) : (f64, index) -> f64
  %r = arith.addf %a, %b : f64
  return %r : f64
}
