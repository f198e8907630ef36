// INPUT: 0.4 0
// INPUT: 0.4 1
// INPUT: 0.4 2
// INPUT: 0.4 7
func.func @f(%x: f64, %n: index) -> f64 {
  %k = arith.index_cast %n : index to i32
  cf.switch %k : i32, [
    default: ^d(%x : f64),
    0: ^a,
    1: ^d(%x : f64),
    2: ^b(%x, %x : f64, f64)
  ]
^a:
  %s = math.cos %x : f64
  cf.br ^d(%s : f64)
^b(%p: f64, %q: f64):
  %m = arith.mulf %p, %q : f64
  cf.br ^d(%m : f64)
^d(%v: f64):
  %e = math.exp %v : f64
  return %e : f64
}
