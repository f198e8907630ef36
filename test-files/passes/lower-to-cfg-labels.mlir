// Blocks of several regions may have one label; in the function that they become blocks of, they have not.
// RUN: pir-opt --pass=lower-to-cfg %s | pir-run - --input n=3 | FileCheck %s

// CHECK: out:0 = tensor<i64> 6
func.func @f(%n: index) -> index {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %a = scf.while (%i = %c0) : (index) -> index {
    %more = arith.cmpi slt, %i, %n : index
    scf.condition(%more) %i : index
  } do {
  ^bb0(%i: index):
    %next = arith.addi %i, %c1 : index
    scf.yield %next : index
  }
  %b = scf.while (%i = %c0) : (index) -> index {
    %more = arith.cmpi slt, %i, %n : index
    scf.condition(%more) %i : index
  } do {
  ^bb0(%i: index):
    %next = arith.addi %i, %c1 : index
    scf.yield %next : index
  }
  %sum = arith.addi %a, %b : index
  return %sum : index
}
