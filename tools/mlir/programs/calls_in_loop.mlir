// INPUT: 0.3 4
// INPUT: 1.1 0
// TIME: 0.3 1000
func.func private @step(%a: f64, %x: f64, %i: index) -> f64 {
  %n = arith.index_cast %i : index to i64
  %w = arith.sitofp %n : i64 to f64
  %s = math.sin %a : f64
  %p = arith.mulf %s, %x : f64
  %q = arith.addf %p, %w : f64
  %r = math.tanh %q : f64
  return %r : f64
}
func.func @f(%x: f64, %n: index) -> f64 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%a = %x) -> (f64) {
    %b = func.call @step(%a, %x, %i) : (f64, f64, index) -> f64
    %c = arith.cmpf ogt, %b, %x : f64
    %d = scf.if %c -> (f64) {
      %e = func.call @step(%b, %a, %i) : (f64, f64, index) -> f64
      scf.yield %e : f64
    } else {
      scf.yield %b : f64
    }
    scf.yield %d : f64
  }
  return %r : f64
}
