// INPUT: 0.5 8
func.func @f(%x: f64, %n: index) -> f64 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%a = %x) -> f64 {
    %k = arith.remui %i, %c3 : index
    %q = scf.index_switch %k -> f64
    case 0 {
      %u = math.sin %a : f64
      scf.yield %u : f64
    }
    case 1 {
      %u = arith.mulf %a, %x : f64
      %v = math.exp %u : f64
      scf.yield %v : f64
    }
    default {
      scf.yield %a : f64
    }
    scf.yield %q : f64
  }
  return %r : f64
}
