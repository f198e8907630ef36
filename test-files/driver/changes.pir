// RUN: pir-opt --pass=cse,licm --print-ir-after-change %s -o %t 2>&1 | FileCheck --check-prefix=DIFF %s
// RUN: FileCheck --input-file=%t %s
// RUN: pir-opt --pass=cse --print-ir-after --print-ir-scope=function %s -o /dev/null 2>&1 | FileCheck --check-prefix=FUNCTION %s
// RUN: pir-opt --pass=cse --print-ir-after --print-ir-scope=op %s -o /dev/null 2>&1 | FileCheck --check-prefix=OP %s
// What a pass has not touched is not shown again.

// DIFF: // -----// Changes by cse //----- //
// DIFF-NEXT: --- before cse
// DIFF-NEXT: +++ after cse
// DIFF-NEXT: @@ -{{[0-9,]+}} +{{[0-9,]+}} @@ func.func @changed
// DIFF: {{^}}-  %b = pd.tanh (%x)
// DIFF-NOT: {{^[+-].*@same}}
// DIFF: // -----// licm changed nothing //----- //

// FUNCTION: // -----// IR after cse //----- //
// FUNCTION-NEXT: func.func @changed
// FUNCTION-NOT: @same

// OP: // -----// IR after cse //----- //
// OP-NEXT: // in @changed
// OP-NEXT: func.return (%a, %a)
// OP-NOT: pd.tanh

// CHECK: func.func @changed
func.func @changed (%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  // CHECK-NEXT: %a = pd.tanh (%x)
  // CHECK-NEXT: func.return (%a, %a)
  %a = pd.tanh (%x) : tensor<4xf32>
  %b = pd.tanh (%x) : tensor<4xf32>
  func.return (%a, %b)
}
// CHECK: func.func @same
func.func @same (%x: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK-NEXT: %a = pd.tanh (%x)
  %a = pd.tanh (%x) : tensor<4xf32>
  func.return (%a)
}
