// INPUT: 0.3 0.4 12
func.func @f(%cr: f64, %ci: f64, %n: index) -> f64 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %two = arith.constant 2.0 : f64
  %four = arith.constant 4.0 : f64
  %r:3 = scf.while (%zr = %cr, %zi = %ci, %k = %c0) : (f64, f64, index) -> (f64, f64, index) {
    %a = arith.mulf %zr, %zr : f64
    %b = arith.mulf %zi, %zi : f64
    %s = arith.addf %a, %b : f64
    %in = arith.cmpf olt, %s, %four : f64
    %left = arith.cmpi ult, %k, %n : index
    %go = arith.andi %in, %left : i1
    scf.condition(%go) %a, %b, %k : f64, f64, index
  } do {
  ^bb0(%a: f64, %b: f64, %k: index):
    %d = arith.subf %a, %b : f64
    %nr = arith.addf %d, %cr : f64
    %t = arith.mulf %a, %b : f64
    %q = math.sqrt %t : f64
    %u = arith.mulf %q, %two : f64
    %ni = arith.addf %u, %ci : f64
    %nk = arith.addi %k, %c1 : index
    scf.yield %nr, %ni, %nk : f64, f64, index
  }
  %v = arith.addf %r#0, %r#1 : f64
  return %v : f64
}
