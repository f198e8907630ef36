// INPUT: 0.25 -0.75
func.func private @minmax(%a: f64, %b: f64) -> (f64, f64) {
  %lt = arith.cmpf olt, %a, %b : f64
  %r:2 = scf.if %lt -> (f64, f64) {
    scf.yield %a, %b : f64, f64
  } else {
    scf.yield %b, %a : f64, f64
  }
  return %r#0, %r#1 : f64, f64
}
func.func private @divmod(%a: i32, %b: i32) -> (i32, i32) {
  %q = arith.divsi %a, %b : i32
  %r = arith.remsi %a, %b : i32
  return %q, %r : i32, i32
}
func.func private @both(%x: f64, %y: f64, %k: i32) -> (f64, i32, f64) {
  %c7 = arith.constant 7 : i32
  %m:2 = call @minmax(%x, %y) : (f64, f64) -> (f64, f64)
  %d:2 = call @divmod(%k, %c7) : (i32, i32) -> (i32, i32)
  %g = arith.sitofp %d#1 : i32 to f64
  %p = arith.mulf %m#0, %g : f64
  return %p, %d#0, %m#1 : f64, i32, f64
}
func.func @f(%x: f64, %y: f64) -> f64 {
  %k = arith.constant 123 : i32
  %a:3 = call @both(%x, %y, %k) : (f64, f64, i32) -> (f64, i32, f64)
  %b:3 = call @both(%a#0, %a#2, %a#1) : (f64, f64, i32) -> (f64, i32, f64)
  %s = arith.mulf %b#0, %b#2 : f64
  %t = math.exp %s : f64
  return %t : f64
}
