// INPUT: 0.4 5
// INPUT: 2.1 0
func.func @f(%x: f64, %n: index) -> f64 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  cf.br ^head(%c0, %x : index, f64)
^head(%i: index, %a: f64):
  %go = arith.cmpi slt, %i, %n : index
  cf.cond_br %go, ^body, ^exit(%a : f64)
^body:
  %s = math.sin %a : f64
  %lim = arith.constant 0.5 : f64
  %big = arith.cmpf ogt, %s, %lim : f64
  cf.cond_br %big, ^left, ^right(%s : f64)
^left:
  %l = arith.mulf %s, %x : f64
  cf.br ^right(%l : f64)
^right(%v: f64):
  %w = arith.addf %v, %x : f64
  %j = arith.addi %i, %c1 : index
  cf.br ^head(%j, %w : index, f64)
^exit(%r: f64):
  return %r : f64
}
