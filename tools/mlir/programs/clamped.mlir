// INPUT: 0.9 7
func.func @f(%x: f64, %n: index) -> f64 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %lo = arith.constant -0.5 : f64
  %hi = arith.constant 0.75 : f64
  %k3 = arith.constant 1.7 : f64
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%a = %x) -> (f64) {
    %b = arith.mulf %a, %k3 : f64
    %s = math.sin %b : f64
    %c = math.cos %s : f64
    %t = arith.subf %s, %c : f64
    %u = arith.maximumf %t, %lo : f64
    %v = arith.minimumf %u, %hi : f64
    %w = arith.mulf %v, %x : f64
    scf.yield %w : f64
  }
  return %r : f64
}
