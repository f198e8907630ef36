// Blocks become structured control flow before they are differentiated, where each loop has one entry.
// RUN: not pir-opt --pass=backward %s 2>&1 | FileCheck %s

// CHECK: blocks-not.mlir:[[#@LINE+7]]:{{.*}}error: a loop with the blocks ^b and ^a can be entered at more than one of its blocks
func.func @f(%x: f64) -> f64 {
  %z = arith.constant 0.0 : f64
  %c = arith.cmpf ogt, %x, %z : f64
  cf.cond_br %c, ^a(%x : f64), ^b(%x : f64)
^a(%p: f64):
  %s = math.sqrt %p : f64
  cf.cond_br %c, ^b(%s : f64), ^end(%s : f64)
^b(%q: f64):
  %t = math.sin %q : f64
  cf.br ^a(%t : f64)
^end(%r: f64):
  return %r : f64
}
