// INPUT: 0.4 1.7 3
// INPUT: -0.8 0.3 1
// TIME: 0.4 1.7 1000
// Of one call the first result goes on, of another one the second.
func.func private @rotate(%x: f64, %y: f64, %k: index) -> (f64, index, f64) {
  %c = math.cos %x : f64
  %s = math.sin %y : f64
  %a = arith.mulf %c, %y : f64
  %b = arith.subf %s, %x : f64
  %j = arith.addi %k, %k : index
  return %a, %j, %b : f64, index, f64
}
func.func @f(%x: f64, %y: f64, %n: index) -> f64 {
  %p:3 = call @rotate(%x, %y, %n) : (f64, f64, index) -> (f64, index, f64)
  %q:3 = call @rotate(%p#0, %y, %p#1) : (f64, f64, index) -> (f64, index, f64)
  %m = arith.index_cast %q#1 : index to i64
  %w = arith.sitofp %m : i64 to f64
  %r = arith.mulf %q#2, %w : f64
  return %r : f64
}
