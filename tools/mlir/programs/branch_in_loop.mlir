// INPUT: 0.5 4
// INPUT: 0.9 9
// INPUT: 1.3 3
// TIME: 0.5 1000
func.func @f(%x: f64, %n: index) -> f64 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %one = arith.constant 1.0 : f64
  %two = arith.constant 2.0 : f64
  %s = scf.for %i = %c0 to %n step %c1 iter_args(%a = %one) -> (f64) {
    %big = arith.cmpf ogt, %a, %two : f64
    %r = scf.if %big -> f64 {
      %q = math.sqrt %a : f64
      %w = arith.mulf %q, %x : f64
      scf.yield %w : f64
    } else {
      %q = math.exp %x : f64
      %w = arith.mulf %q, %a : f64
      scf.yield %w : f64
    }
    scf.yield %r : f64
  }
  return %s : f64
}
