// INPUT: 0.9 6
func.func @fact(%n: index, %x: f64) -> f64 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %z = arith.cmpi eq, %n, %c0 : index
  %r = scf.if %z -> f64 {
    scf.yield %x : f64
  } else {
    %m = arith.subi %n, %c1 : index
    %q = func.call @fact(%m, %x) : (index, f64) -> f64
    %k = arith.index_cast %n : index to i64
    %g = arith.sitofp %k : i64 to f64
    %p = arith.mulf %g, %q : f64
    %s = math.sin %p : f64
    scf.yield %s : f64
  }
  return %r : f64
}
func.func @f(%x: f64, %n: index) -> f64 {
  %r = call @fact(%n, %x) : (index, f64) -> f64
  return %r : f64
}
