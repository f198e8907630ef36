// INPUT: 0.3 0.65 10
func.func private @integrand(%t: f64, %p: f64) -> f64 attributes {no_inline} {
  %s = arith.mulf %t, %p : f64
  %e = math.exp %s : f64
  %c = math.cos %t : f64
  %r = arith.mulf %e, %c : f64
  return %r : f64
}
func.func @f(%a: f64, %p: f64, %n: index) -> f64 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %one = arith.constant 1.0 : f64
  %d = arith.subf %one, %a : f64
  %n64 = arith.index_cast %n : index to i64
  %nf = arith.sitofp %n64 : i64 to f64
  %h = arith.divf %d, %nf : f64
  %f0 = call @integrand(%a, %p) : (f64, f64) -> f64
  %f1 = call @integrand(%one, %p) : (f64, f64) -> f64
  %ends = arith.addf %f0, %f1 : f64
  %s = scf.for %i = %c1 to %n step %c1 iter_args(%acc = %ends) -> (f64) {
    %k = arith.index_cast %i : index to i64
    %g = arith.sitofp %k : i64 to f64
    %o = arith.mulf %g, %h : f64
    %t = arith.addf %a, %o : f64
    %v = func.call @integrand(%t, %p) : (f64, f64) -> f64
    %rem = arith.remsi %i, %c2 : index
    %odd = arith.cmpi eq, %rem, %c1 : index
    %four = arith.constant 4.0 : f64
    %two = arith.constant 2.0 : f64
    %w = arith.select %odd, %four, %two : f64
    %m = arith.mulf %v, %w : f64
    %z = arith.addf %acc, %m : f64
    scf.yield %z : f64
  }
  %three = arith.constant 3.0 : f64
  %u = arith.mulf %s, %h : f64
  %r = arith.divf %u, %three : f64
  return %r : f64
}
