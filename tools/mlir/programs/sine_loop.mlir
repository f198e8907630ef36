// INPUT: 0.5 0
// INPUT: 0.5 5
// INPUT: 0.01 200
// TIME: 0.01 1000
func.func @f(%x: f64, %n: index) -> f64 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %one = arith.constant 1.0 : f64
  %s = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %one) -> (f64) {
    %v = math.sin %acc : f64
    %a = arith.mulf %v, %x : f64
    %b = arith.addf %a, %acc : f64
    scf.yield %b : f64
  }
  return %s : f64
}
