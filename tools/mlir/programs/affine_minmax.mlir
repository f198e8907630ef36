// INPUT: 0.7 5
func.func @f(%x: f64, %n: index) -> f64 {
  %zero = arith.constant 0.0 : f64
  %r = affine.for %i = 0 to %n iter_args(%a = %zero) -> (f64) {
    %q = affine.for %j = max affine_map<(d0) -> (0, d0 - 1)>(%i) to min affine_map<(d0)[s0] -> (d0 + 2, s0)>(%i)[%n] iter_args(%b = %a) -> (f64) {
      %m = affine.min affine_map<(d0, d1) -> (d0, d1)>(%i, %j)
      %k = arith.index_cast %m : index to i64
      %g = arith.sitofp %k : i64 to f64
      %p = arith.mulf %g, %x : f64
      %s = arith.addf %p, %b : f64
      affine.yield %s : f64
    }
    affine.yield %q : f64
  }
  return %r : f64
}
