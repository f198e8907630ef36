// Counters of loops are counted down, and what is computed of them is computed again: only what was loaded is recorded.
// RUN: pir-opt --pass=backward --print-mlir %s | FileCheck %s
// RUN: pir-opt --pass='backward,canonicalize,cse,lower-stacks{to=memref}' --print-mlir %s | FileCheck %s --check-prefix=TAPE

// CHECK: func.func @f_grad
// CHECK: cf.push_back (%stack, %a)
// CHECK-NEXT: cf.push_back (%stack, %q)
// CHECK-NEXT: scf.yield
// CHECK: scf.while (%a_grad = %y_grad, %i{{.*}} = %0)
// CHECK: ^bb0(%{{.*}}: f64, %[[AFTER:.*]]: index):
// CHECK-NEXT: %[[I:.*]] = arith.subi %[[AFTER]], %s : index
// CHECK: %[[H:.*]] = arith.subi %[[I]], %c1{{.*}} : index
// CHECK: memref.store %{{.*}}, %b_grad[%[[H]]]
// CHECK: scf.yield %{{.*}}, %[[I]] : f64, index

// One tape of floats is left, whose functions LLVM may change.
// TAPE-NOT: memref<?xindex>
// TAPE: func.func private @pir_tape_push_0({{.*}}memref<1xmemref<?xf64>>{{.*}}attributes {llvm.linkage = #llvm.linkage<internal>}
func.func @f(%x: f64, %b: memref<?xf64>, %n: index, %s: index) -> f64 {
  %c1 = arith.constant 1 : index
  %y = scf.for %i = %c1 to %n step %s iter_args(%a = %x) -> (f64) {
    %h = arith.subi %i, %c1 : index
    %k = arith.index_cast %h : index to i64
    %w = arith.sitofp %k : i64 to f64
    %p = memref.load %b[%h] : memref<?xf64>
    %q = arith.mulf %p, %w : f64
    %z = arith.mulf %q, %a : f64
    scf.yield %z : f64
  }
  return %y : f64
}
