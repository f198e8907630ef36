// INPUT: 0.9 5
func.func @f(%x: f64, %n: index) -> f64 {
  %c1 = arith.constant 1 : index
  %c0 = arith.constant 0 : index
  %two = arith.constant 2.0 : f64
  %r:3 = scf.while (%a = %x, %b = %two, %k = %c0) : (f64, f64, index) -> (f64, f64, index) {
    %go = arith.cmpi ult, %k, %n : index
    scf.condition(%go) %b, %a, %k : f64, f64, index
  } do {
  ^bb0(%b: f64, %a: f64, %k: index):
    %s = math.sin %a : f64
    %t = arith.mulf %s, %b : f64
    %q = arith.addi %k, %c1 : index
    scf.yield %t, %a, %q : f64, f64, index
  }
  %y = arith.subf %r#0, %r#1 : f64
  return %y : f64
}
