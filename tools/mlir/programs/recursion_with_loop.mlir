// INPUT: 0.5 3
// INPUT: 1.0 4
// TIME: 0.5 10
func.func @f(%x: f64, %n: index) -> f64 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %one = arith.constant 1.0 : f64
  %s = scf.for %i = %c0 to %n step %c1 iter_args(%a = %one) -> (f64) {
    %y = arith.mulf %a, %x : f64
    %z = math.sin %y : f64
    %t = func.call @f(%z, %i) : (f64, index) -> f64
    %b = arith.addf %a, %t : f64
    scf.yield %b : f64
  }
  return %s : f64
}
