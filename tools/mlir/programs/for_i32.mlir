// INPUT: 0.6 -0.2
func.func @f(%x: f64, %y: f64) -> f64 {
  %c0 = arith.constant 0 : i32
  %c2 = arith.constant 2 : i32
  %c11 = arith.constant 11 : i32
  %r = scf.for %i = %c0 to %c11 step %c2 iter_args(%a = %x) -> (f64) : i32 {
    %g = arith.sitofp %i : i32 to f64
    %m = arith.mulf %g, %y : f64
    %s = math.sin %m : f64
    %p = arith.mulf %a, %s : f64
    %q = arith.addf %p, %x : f64
    scf.yield %q : f64
  }
  return %r : f64
}
