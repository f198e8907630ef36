// INPUT: 0.7 0.4
// INPUT: 0.2 -0.4
func.func @f(%x: f64, %y: f64) -> f64 {
  %a = math.exp %x : f64
  %b = math.log1p %x : f64
  %c = math.expm1 %y : f64
  %d = math.atan2 %x, %y : f64
  %e = math.erf %y : f64
  %f = math.powf %a, %y : f64
  %g = math.rsqrt %x : f64
  %h = math.cbrt %a : f64
  %i = math.log2 %a : f64
  %j = math.exp2 %y : f64
  %k = math.sinh %y : f64
  %l = math.tan %x : f64
  %m = math.fma %x, %y, %a : f64
  %n = math.floor %y : f64
  %o = math.asin %y : f64
  %s0 = arith.addf %b, %c : f64
  %s1 = arith.mulf %s0, %d : f64
  %s2 = arith.addf %s1, %e : f64
  %s3 = arith.mulf %s2, %f : f64
  %s4 = arith.addf %s3, %g : f64
  %s5 = arith.mulf %s4, %h : f64
  %s6 = arith.addf %s5, %i : f64
  %s7 = arith.mulf %s6, %j : f64
  %s8 = arith.addf %s7, %k : f64
  %s9 = arith.mulf %s8, %l : f64
  %s10 = arith.addf %s9, %m : f64
  %s11 = arith.addf %s10, %n : f64
  %s12 = arith.mulf %s11, %o : f64
  return %s12 : f64
}
