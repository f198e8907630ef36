// INPUT: 0.5 0
// INPUT: 0.5 1
// INPUT: 0.5 2
// INPUT: 0.5 7
func.func @f(%x: f64, %n: index) -> f64 {
  %r:2 = scf.index_switch %n -> f64, f64
  case 0 {
    %a = math.sin %x : f64
    scf.yield %a, %x : f64, f64
  }
  case 2 {
    %a = math.exp %x : f64
    %b = math.sqrt %a : f64
    scf.yield %x, %b : f64, f64
  }
  default {
    %a = arith.mulf %x, %x : f64
    scf.yield %a, %a : f64, f64
  }
  %s = arith.mulf %r#0, %r#1 : f64
  return %s : f64
}
