// Conditionals with constants in their branches are raised: the pivot that makes them run has another predicate than the branch.
//
// RUN: pir-opt --pass=raise-from-dataflow %S/inputs/cond_constant.pb | FileCheck %s
// CHECK: %cond_Merge = pd.if (%p) then {
// CHECK-NEXT: %cond_mul_y = pd.full {shape = [], value = 2.0, dtype = f64} : tensor<f64>
// CHECK-NEXT: %cond_mul = pd.multiply (%x, %cond_mul_y) : tensor<f64>
// CHECK-NEXT: cf.yield (%cond_mul)
// CHECK-NEXT: } else {
// CHECK-NOT: pd.if
//
// RUN: pir-opt --pass=raise-from-dataflow %S/inputs/cond_nested.pb | pir-run - --input x=0.5 --input p=true --input q=true | FileCheck --check-prefix=TT %s
// TT: out = tensor<f64> 11
// RUN: pir-opt --pass=raise-from-dataflow %S/inputs/cond_nested.pb | pir-run - --input x=0.5 --input p=true --input q=false | FileCheck --check-prefix=TF %s
// TF: out = tensor<f64> 0.25
// RUN: pir-opt --pass=raise-from-dataflow %S/inputs/cond_nested.pb | pir-run - --input x=0.5 --input p=false --input q=true | FileCheck --check-prefix=FT %s
// FT: out = tensor<f64> 2
// RUN: pir-run --dataflow %S/inputs/cond_in_loop.pb --input x=0.7 | FileCheck --check-prefix=IN %s
// RUN: pir-opt --pass=raise-from-dataflow %S/inputs/cond_in_loop.pb | pir-run - --input x=0.7 | FileCheck --check-prefix=IN %s
// IN: out = tensor<f64> 3.59999
