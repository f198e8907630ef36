// INPUT: 0.5 0.7
// INPUT: 2.0 -1.0
func.func @f(%x: f64, %y: f64) -> f64 {
  %c = arith.cmpf olt, %x, %y : f64
  %r = scf.if %c -> f64 {
    %a = math.exp %x : f64
    %b = arith.mulf %a, %y : f64
    scf.yield %b : f64
  } else {
    %a = math.cos %y : f64
    %b = arith.mulf %a, %x : f64
    %d = arith.mulf %b, %b : f64
    scf.yield %d : f64
  }
  return %r : f64
}
