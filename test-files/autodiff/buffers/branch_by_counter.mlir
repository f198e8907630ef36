// The branch is decided by a counter, which the adjoint counts down instead of reading it: its records are on the tape too.
// RUN: pir-opt --pass='backward,canonicalize,cse,lower-stacks{to=memref}' %s | FileCheck %s
// RUN: pir-run --check-grad --input a=0.7 --input n=5 --input d=2 %s
// CHECK-NOT: pir_stack_new
// CHECK: func.func @f_grad
// CHECK: call @pir_tape_pop
// CHECK-NOT: pir_stack_new
func.func @f(%a: f64, %n: index, %d: index) -> f64 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%x = %a) -> (f64) {
    %far = arith.cmpi sge, %i, %d : index
    %w = scf.if %far -> f64 {
      %s = math.sin %x : f64
      %p = arith.mulf %s, %x : f64
      scf.yield %p : f64
    } else {
      %q = arith.mulf %x, %a : f64
      scf.yield %q : f64
    }
    scf.yield %w : f64
  }
  return %r : f64
}
