// INPUT: 0.9 6
func.func @f(%x: f64, %n: index) -> f64 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %one = arith.constant 1.0 : f64
  %zero = arith.constant 0.0 : f64
  %r:2 = scf.parallel (%i, %j) = (%c0, %c1) to (%n, %n) step (%c1, %c2) init (%zero, %one) -> (f64, f64) {
    %a = arith.muli %i, %j : index
    %k = arith.index_cast %a : index to i64
    %g = arith.sitofp %k : i64 to f64
    %v = arith.mulf %g, %x : f64
    %s = math.sin %v : f64
    %w = math.exp %s : f64
    scf.reduce(%s, %w : f64, f64) {
    ^bb0(%l: f64, %q: f64):
      %z = arith.addf %l, %q : f64
      scf.reduce.return %z : f64
    }, {
    ^bb0(%l: f64, %q: f64):
      %z = arith.mulf %l, %q : f64
      scf.reduce.return %z : f64
    }
  }
  %log = math.log %r#1 : f64
  %t = arith.addf %r#0, %log : f64
  return %t : f64
}
