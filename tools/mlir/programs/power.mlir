// MOST: 7, each iteration of the function is one product; 2.2 times its time
// INPUT: 1.5 0
// INPUT: 1.5 1
// INPUT: 1.1 7
// TIME: 1.001 1000
func.func @f(%x: f64, %n: index) -> f64 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %one = arith.constant 1.0 : f64
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%a = %one) -> (f64) {
    %b = arith.mulf %a, %x : f64
    scf.yield %b : f64
  }
  return %r : f64
}
