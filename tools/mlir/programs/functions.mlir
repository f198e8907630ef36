// INPUT: 0.5 0.7
// INPUT: 0.9 0.2
func.func @f(%x: f64, %y: f64) -> f64 {
  %a = math.log %x : f64
  %b = math.powf %x, %y : f64
  %c = math.atan2 %a, %b : f64
  %d = math.erf %c : f64
  %e = math.tan %d : f64
  %f = math.log1p %y : f64
  %g = math.fma %e, %f, %b : f64
  %h = arith.maximumf %g, %a : f64
  %i = math.rsqrt %h : f64
  %j = math.cbrt %i : f64
  %k = arith.negf %j : f64
  return %k : f64
}
