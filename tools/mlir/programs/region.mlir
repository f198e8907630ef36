// INPUT: 0.4 0.7
// INPUT: -1.4 2.0
func.func @f(%x: f64, %y: f64) -> f64 {
  %r:2 = scf.execute_region -> (f64, f64) {
    %a = arith.mulf %x, %y : f64
    %b = scf.execute_region -> f64 {
      %c = math.exp %y : f64
      scf.yield %c : f64
    }
    scf.yield %a, %b : f64, f64
  }
  %s = math.sin %r#0 : f64
  %t = arith.mulf %s, %r#1 : f64
  return %t : f64
}
