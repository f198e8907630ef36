// INPUT: 0.3 3
// INPUT: 0.2 4
// TIME: 0.2 12
func.func @f(%x: f64, %n: index) -> f64 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %s = scf.for %i = %c0 to %n step %c1 iter_args(%a = %x) -> (f64) {
    %t = scf.for %j = %c0 to %i step %c1 iter_args(%b = %a) -> (f64) {
      %u = scf.for %k = %c0 to %j step %c1 iter_args(%d = %b) -> (f64) {
        %v = math.sin %d : f64
        %w = arith.mulf %v, %x : f64
        %e = arith.addf %w, %d : f64
        scf.yield %e : f64
      }
      %g = arith.mulf %u, %b : f64
      %h = math.cos %g : f64
      scf.yield %h : f64
    }
    scf.yield %t : f64
  }
  return %s : f64
}
