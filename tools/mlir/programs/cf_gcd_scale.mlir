// INPUT: 0.8 12 18
// INPUT: 0.3 7 5
// Euclid's algorithm in blocks; the value is scaled at each step.
func.func @f(%x: f64, %a: index, %b: index) -> f64 {
  %c0 = arith.constant 0 : index
  %one = arith.constant 1.0 : f64
  cf.br ^head(%a, %b, %one : index, index, f64)
^head(%u: index, %v: index, %acc: f64):
  %end = arith.cmpi eq, %v, %c0 : index
  cf.cond_br %end, ^exit(%acc, %u : f64, index), ^step
^step:
  %r = arith.remui %u, %v : index
  %k = arith.index_cast %r : index to i64
  %g = arith.uitofp %k : i64 to f64
  %s = arith.mulf %g, %x : f64
  %c = math.cos %s : f64
  %p = arith.mulf %c, %acc : f64
  cf.br ^head(%v, %r, %p : index, index, f64)
^exit(%res: f64, %gcd: index):
  %q = arith.index_cast %gcd : index to i32
  %w = arith.sitofp %q : i32 to f64
  %t = arith.mulf %w, %res : f64
  return %t : f64
}
