// INPUT: 0.3 3
// INPUT: 1.4 4
// TIME: 0.3 300
func.func @f(%x: f64, %n: index) -> f64 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %half = arith.constant 0.5 : f64
  %s = scf.for %i = %c0 to %n step %c1 iter_args(%a = %x) -> (f64) {
    %b = math.exp %a : f64
    %r = scf.while (%y = %b) : (f64) -> f64 {
      %go = arith.cmpf ogt, %y, %x : f64
      scf.condition(%go) %y : f64
    } do {
    ^bb0(%y: f64):
      %m = arith.mulf %y, %half : f64
      %q = arith.mulf %m, %m : f64
      %w = arith.subf %m, %q : f64
      %o = arith.minimumf %w, %m : f64
      scf.yield %o : f64
    }
    scf.yield %r : f64
  }
  return %s : f64
}
