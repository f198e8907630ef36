// INPUT: 0.4 7
// INPUT: 2.4 7
func.func @f(%x: f64, %n: index) -> f64 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %true = arith.constant true
  %false = arith.constant false
  %two = arith.constant 2.0 : f64
  %r:3 = scf.while (%i = %c0, %a = %x, %ok = %true) : (index, f64, i1) -> (f64, index, i1) {
    %l = arith.cmpi slt, %i, %n : index
    %go = arith.andi %l, %ok : i1
    scf.condition(%go) %a, %i, %ok : f64, index, i1
  } do {
  ^bb0(%a: f64, %i: index, %ok: i1):
    %b = arith.mulf %a, %x : f64
    %c = arith.addf %b, %x : f64
    %big = arith.cmpf ogt, %c, %two : f64
    %nok = scf.if %big -> i1 {
      scf.yield %false : i1
    } else {
      scf.yield %true : i1
    }
    %j = arith.addi %i, %c1 : index
    scf.yield %j, %c, %nok : index, f64, i1
  }
  return %r#0 : f64
}
