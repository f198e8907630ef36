// MOST: 6.5, 103 instructions, 7 ns; the gradient makes and frees tapes
// INPUT: 0.3 20
// INPUT: 1.7 20
func.func @f(%x: f64, %n: index) -> f64 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %lim = arith.constant 100.0 : f64
  cf.br ^loop(%c0, %x : index, f64)
^loop(%i: index, %a: f64):
  %more = arith.cmpi slt, %i, %n : index
  cf.cond_br %more, ^body, ^end(%a : f64)
^body:
  %s = arith.mulf %a, %a : f64
  %t = arith.addf %s, %x : f64
  %big = arith.cmpf ogt, %t, %lim : f64
  %j = arith.addi %i, %c1 : index
  cf.cond_br %big, ^end(%t : f64), ^loop(%j, %t : index, f64)
^end(%r: f64):
  %l = math.absf %r : f64
  %q = math.sqrt %l : f64
  return %q : f64
}
