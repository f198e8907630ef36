// INPUT: 0.6 9
func.func @f(%x: f64, %n: index) -> f64 {
  %c2 = index.constant 2
  %c0 = index.constant 0
  %c1 = index.constant 1
  %h = index.divu %n, %c2
  %m = index.add %h, %c1
  %k = index.mul %m, %c2
  %l = index.sub %k, %n
  %o = index.maxs %l, %m
  %r = scf.for %i = %c0 to %o step %c1 iter_args(%a = %x) -> (f64) {
    %odd = index.and %i, %c1
    %is = index.cmp eq(%odd, %c0)
    %q = index.castu %i : index to i64
    %g = arith.uitofp %q : i64 to f64
    %u = arith.mulf %a, %g : f64
    %s = math.sin %u : f64
    %v = arith.select %is, %s, %a : f64
    %w = arith.addf %v, %x : f64
    scf.yield %w : f64
  }
  return %r : f64
}
