// INPUT: 0.3 4
// INPUT: 0.9 7
func.func private @tree(%x: f64, %n: index) -> f64 {
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %leaf = arith.cmpi ult, %n, %c2 : index
  cf.cond_br %leaf, ^done(%x : f64), ^split
^split:
  %a = arith.subi %n, %c1 : index
  %b = arith.subi %n, %c2 : index
  %s = math.sin %x : f64
  %l = call @tree(%s, %a) : (f64, index) -> f64
  %c = math.cos %x : f64
  %r = call @tree(%c, %b) : (f64, index) -> f64
  %m = arith.mulf %l, %r : f64
  %p = arith.addf %m, %x : f64
  cf.br ^done(%p : f64)
^done(%res: f64):
  return %res : f64
}
func.func @f(%x: f64, %n: index) -> f64 {
  %r = call @tree(%x, %n) : (f64, index) -> f64
  return %r : f64
}
