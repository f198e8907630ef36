// Blocks of `cf` are no structured control flow; MLIR makes it.
// RUN: not pir-opt --pass=backward %s 2>&1 | FileCheck %s

// CHECK: error: a body with several blocks cannot be differentiated
// CHECK: help: run `mlir-opt --lift-cf-to-scf`, which converts the blocks to `scf.if` and `scf.while`
func.func @f(%x: f64) -> f64 {
  %z = arith.constant 0.0 : f64
  %c = arith.cmpf ogt, %x, %z : f64
  cf.cond_br %c, ^a, ^b(%x : f64)
^a:
  %s = math.sqrt %x : f64
  cf.br ^b(%s : f64)
^b(%r: f64):
  return %r : f64
}
