// INPUT: 0.5 3
// INPUT: 0.2 6
// INPUT: 0.2 0
// TIME: 0.001 14
func.func @f(%x: f64, %n: index) -> f64 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %one = arith.constant 1.0 : f64
  %s = scf.for %i = %c0 to %n step %c1 iter_args(%a = %one) -> (f64) {
    %t = scf.for %j = %c0 to %i step %c1 iter_args(%b = %a) -> (f64) {
      %v = math.tanh %b : f64
      %w = arith.mulf %v, %x : f64
      %u = arith.addf %w, %b : f64
      scf.yield %u : f64
    }
    %k = arith.mulf %t, %a : f64
    scf.yield %k : f64
  }
  return %s : f64
}
