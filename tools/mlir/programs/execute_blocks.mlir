// INPUT: 0.7 0.3
// INPUT: 0.1 0.3
func.func @f(%x: f64, %y: f64) -> f64 {
  %r = scf.execute_region -> f64 {
    %c = arith.cmpf olt, %x, %y : f64
    cf.cond_br %c, ^a, ^b
  ^a:
    %s = math.sin %x : f64
    scf.yield %s : f64
  ^b:
    %t = arith.mulf %x, %y : f64
    scf.yield %t : f64
  }
  %q = math.exp %r : f64
  return %q : f64
}
