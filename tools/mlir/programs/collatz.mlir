// INPUT: 0.7 6
func.func @f(%x: f64, %n: index) -> f64 {
  %c0 = arith.constant 0 : i64
  %c1 = arith.constant 1 : i64
  %c2 = arith.constant 2 : i64
  %c3 = arith.constant 3 : i64
  %k = arith.index_cast %n : index to i64
  %r:3 = scf.while (%i = %k, %a = %x, %steps = %c0) : (i64, f64, i64) -> (i64, f64, i64) {
    %go = arith.cmpi sgt, %i, %c1 : i64
    scf.condition(%go) %i, %a, %steps : i64, f64, i64
  } do {
  ^bb0(%i: i64, %a: f64, %s: i64):
    %b = arith.andi %i, %c1 : i64
    %odd = arith.cmpi eq, %b, %c1 : i64
    %n2:2 = scf.if %odd -> (i64, f64) {
      %t = arith.muli %i, %c3 : i64
      %u = arith.addi %t, %c1 : i64
      %v = math.sin %a : f64
      scf.yield %u, %v : i64, f64
    } else {
      %u = arith.shrsi %i, %c1 : i64
      %v = arith.mulf %a, %x : f64
      scf.yield %u, %v : i64, f64
    }
    %s1 = arith.addi %s, %c1 : i64
    scf.yield %n2#0, %n2#1, %s1 : i64, f64, i64
  }
  %q = arith.sitofp %r#2 : i64 to f64
  %z = arith.mulf %q, %r#1 : f64
  return %z : f64
}
