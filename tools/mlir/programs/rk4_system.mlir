// MOST: 7.5, calls record what the loop could; 3.8 times its time, and 3.5 times the instructions after inline
// INPUT: 1.0 0.1 40
// INPUT: 0.5 0.3 3
// Van der Pol's oscillator: a function with two results, called four times a step.
func.func private @rhs(%u: f64, %v: f64, %mu: f64) -> (f64, f64) {
  %one = arith.constant 1.0 : f64
  %u2 = arith.mulf %u, %u : f64
  %d = arith.subf %one, %u2 : f64
  %e = arith.mulf %mu, %d : f64
  %g = arith.mulf %e, %v : f64
  %h = arith.subf %g, %u : f64
  return %v, %h : f64, f64
}
func.func private @axpy(%a: f64, %x: f64, %y: f64) -> f64 {
  %0 = arith.mulf %a, %x : f64
  %1 = arith.addf %0, %y : f64
  return %1 : f64
}
func.func @f(%mu: f64, %u0: f64, %n: index) -> f64 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %h = arith.constant 0.05 : f64
  %half = arith.constant 0.025 : f64
  %sixth = arith.constant 0.008333333333333333 : f64
  %two = arith.constant 2.0 : f64
  %v0 = arith.constant 0.0 : f64
  %r:2 = scf.for %i = %c0 to %n step %c1 iter_args(%u = %u0, %v = %v0) -> (f64, f64) {
    %k1:2 = func.call @rhs(%u, %v, %mu) : (f64, f64, f64) -> (f64, f64)
    %ua = func.call @axpy(%half, %k1#0, %u) : (f64, f64, f64) -> f64
    %va = func.call @axpy(%half, %k1#1, %v) : (f64, f64, f64) -> f64
    %k2:2 = func.call @rhs(%ua, %va, %mu) : (f64, f64, f64) -> (f64, f64)
    %ub = func.call @axpy(%half, %k2#0, %u) : (f64, f64, f64) -> f64
    %vb = func.call @axpy(%half, %k2#1, %v) : (f64, f64, f64) -> f64
    %k3:2 = func.call @rhs(%ub, %vb, %mu) : (f64, f64, f64) -> (f64, f64)
    %uc = func.call @axpy(%h, %k3#0, %u) : (f64, f64, f64) -> f64
    %vc = func.call @axpy(%h, %k3#1, %v) : (f64, f64, f64) -> f64
    %k4:2 = func.call @rhs(%uc, %vc, %mu) : (f64, f64, f64) -> (f64, f64)
    %s0 = arith.addf %k2#0, %k3#0 : f64
    %s1 = func.call @axpy(%two, %s0, %k1#0) : (f64, f64, f64) -> f64
    %s2 = arith.addf %s1, %k4#0 : f64
    %t0 = arith.addf %k2#1, %k3#1 : f64
    %t1 = func.call @axpy(%two, %t0, %k1#1) : (f64, f64, f64) -> f64
    %t2 = arith.addf %t1, %k4#1 : f64
    %un = func.call @axpy(%sixth, %s2, %u) : (f64, f64, f64) -> f64
    %vn = func.call @axpy(%sixth, %t2, %v) : (f64, f64, f64) -> f64
    scf.yield %un, %vn : f64, f64
  }
  %q = arith.mulf %r#0, %r#1 : f64
  return %q : f64
}
