// RUN: pir-opt --pass=inline,symbol-dce %s | FileCheck %s
// RUN: pir-opt --pass=inline{always=true},symbol-dce %s | FileCheck %s --check-prefix=ALL
// RUN: pir-opt --pass=inline{always=true,max-growth=4} %s 2>&1 | FileCheck %s --check-prefix=NOTE
// RUN: pir-opt --pass=inline{max-size=1} %s 2>&1 | FileCheck %s --check-prefix=SIZE
// RUN: pir-opt --pass=inline{always=true},backward %s 2>&1 | FileCheck %s --check-prefix=GRAD

// NOTE: note: 1 call is not inlined because of the limit `max-growth`
// SIZE: note: 1 call is not inlined because of the limit `max-size`

// A private function without calls is not differentiated.
// GRAD: func.func private @twice(%x: tensor<4xf64>) -> tensor<4xf64>
// ALL-NOT: @twice
func.func private @twice(%x: tensor<4xf64>) -> tensor<4xf64> {
  %y = pd.add (%x, %x) : tensor<4xf64>
  func.return (%y)
}
// CHECK: func.func private @kept
// ALL-NOT: @kept
func.func private @kept(%x: tensor<4xf64>) -> tensor<4xf64> attributes {no_inline} {
  %y = pd.tanh (%x) : tensor<4xf64>
  func.return (%y)
}
// CHECK-LABEL: func.func @main
// CHECK: pd.add
// CHECK: func.call @kept
// CHECK: %z = func.call @twice
// ALL: func.func @main
// ALL-NOT: func.call
func.func @main(%x: tensor<4xf64>) -> (tensor<4xf64>, tensor<4xf64>) {
  %y = func.call @twice (%x) : tensor<4xf64>
  %k = func.call @kept (%y) : tensor<4xf64>
  %z = func.call @twice (%x) {no_inline} : tensor<4xf64>
  func.return (%k, %z)
}
