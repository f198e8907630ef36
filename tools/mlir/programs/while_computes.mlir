// INPUT: 0.9 4
// INPUT: -0.9 0
func.func @f(%x: f64, %n: index) -> f64 {
  %c1 = arith.constant 1 : index
  %c0 = arith.constant 0 : index
  %one = arith.constant 1.0 : f64
  %r:2 = scf.while (%a = %x, %k = %c0) : (f64, index) -> (f64, f64) {
    %b = math.sin %a : f64
    %c = arith.mulf %b, %x : f64
    %go = arith.cmpi slt, %k, %n : index
    scf.condition(%go) %b, %c : f64, f64
  } do {
  ^bb0(%b: f64, %c: f64):
    %d = arith.addf %b, %c : f64
    %k = arith.index_cast %n : index to i64
    %g = arith.sitofp %k : i64 to f64
    %e = arith.cmpf ogt, %d, %g : f64
    %nn = arith.select %e, %c1, %n : index
    scf.yield %d, %nn : f64, index
  }
  %y = arith.mulf %r#0, %r#1 : f64
  %z = arith.addf %y, %one : f64
  return %z : f64
}
