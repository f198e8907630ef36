// RUN: pir-opt --allow-unregistered-dialect --print-generic %s | FileCheck %s
// RUN: pir-opt --allow-unregistered-dialect --print-mlir %s | FileCheck %s --check-prefix=MLIR
// RUN: pir-opt --allow-unregistered-dialect %s | pir-opt --allow-unregistered-dialect --print-generic - | FileCheck %s
// In MLIR, the operations of a module may use what is defined after them.
module {
  %add = arith.addi %c0, %c1 : index
  %c0 = arith.constant 0 : index
  %c1 = "t.c"() : () -> index
}

// CHECK: %add = "arith.addi"(%c0, %c1)
// CHECK-NEXT: %c0 = "arith.constant"
// CHECK-NEXT: %c1 = "t.c"() : () -> index

// MLIR: %add = arith.addi %c0, %c1 : index
// MLIR-NEXT: %c0 = arith.constant 0 : index
