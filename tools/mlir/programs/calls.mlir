// INPUT: 0.7 1.2
// INPUT: -1.3 0.4
func.func private @g(%x: f64, %y: f64) -> (f64, f64) {
  %s = math.sin %x : f64
  %p = arith.mulf %s, %y : f64
  %q = arith.addf %p, %x : f64
  return %p, %q : f64, f64
}
func.func private @h(%x: f64, %y: f64) -> f64 {
  %a:2 = call @g(%x, %y) : (f64, f64) -> (f64, f64)
  %b:2 = call @g(%a#0, %a#1) : (f64, f64) -> (f64, f64)
  %r = arith.mulf %b#1, %a#0 : f64
  return %r : f64
}
func.func @f(%x: f64, %y: f64) -> f64 {
  %a = call @h(%x, %y) : (f64, f64) -> f64
  %b = call @h(%y, %a) : (f64, f64) -> f64
  return %b : f64
}
