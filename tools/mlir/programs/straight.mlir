// INPUT: 0.5 0.7
// INPUT: 2.0 -1.0
func.func @f(%x: f64, %y: f64) -> f64 {
  %a = math.sin %x : f64
  %b = arith.mulf %a, %y : f64
  %c = arith.divf %b, %x : f64
  %d = math.exp %c : f64
  return %d : f64
}
