// INPUT: 0.8 7
// INPUT: 0.8 12
func.func @f(%x: f64, %n: index) -> f64 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%a = %x) -> (f64) {
    %k = arith.remui %i, %c4 : index
    %v = scf.index_switch %k -> f64
    case 0 {
      %s = math.sin %a : f64
      scf.yield %s : f64
    }
    case 2 {
      %e = math.exp %a : f64
      %l = arith.mulf %e, %x : f64
      scf.yield %l : f64
    }
    default {
      %h = arith.constant 0.5 : f64
      %m = arith.mulf %a, %h : f64
      scf.yield %m : f64
    }
    scf.yield %v : f64
  }
  return %r : f64
}
