// RUN: pir-opt %s --emit=paddle-text | FileCheck %s
// RUN: pir-opt %s --emit=paddle-json | pir-run - --input x=[2,3] | FileCheck %s --check-prefix=VALUES
// Functions that are private are written in the place of their calls.
// CHECK-NOT: func
// CHECK: (%0) = "pd_op.data"
// CHECK-NEXT: (%1) = "pd_op.multiply" (%0, %0)
// CHECK-NEXT: (%2) = "pd_op.multiply" (%1, %1)
// CHECK-NEXT: (%3) = "pd_op.fetch" (%2)
// CHECK-NOT: func
// VALUES: y = tensor<2xf32> [16, 81]
func.func private @square(%a: tensor<2xf32>) -> tensor<2xf32> {
  %b = pd.multiply (%a, %a) : tensor<2xf32>
  func.return (%b)
}
func.func private @twice(%a: tensor<2xf32>) -> tensor<2xf32> {
  %b = func.call @square (%a) : tensor<2xf32>
  %c = func.call @square (%b) : tensor<2xf32>
  func.return (%c)
}
%x = pd.data {name = "x", shape = [2], dtype = f32} : tensor<2xf32>
%y = func.call @twice (%x) : tensor<2xf32>
pd.fetch (%y) {name = "y"}
