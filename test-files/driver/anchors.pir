// RUN: pir-opt --pass-pipeline='builtin.module(func.func(cse))' %s | FileCheck --check-prefixes=CHECK,INSIDE %s
// RUN: pir-opt --pass=cse %s | FileCheck --check-prefixes=CHECK,ALL %s
// What stands at top level is in no function: passes on functions must not touch it, even if it is equal to what is in
// one.
// CHECK: %x = pd.data
// CHECK-NEXT: pd.tanh (%x)
// INSIDE-NEXT: pd.tanh (%x)
// ALL-NOT: pd.tanh
// CHECK: func.func @f
%x = pd.data {name = "x", shape = [4], dtype = f32} : tensor<4xf32>
%a = pd.tanh (%x) : tensor<4xf32>
%b = pd.tanh (%x) : tensor<4xf32>
pd.fetch (%a) {name = "a"}
pd.fetch (%b) {name = "b"}
func.func @f (%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  // CHECK: %a = pd.tanh (%x)
  // CHECK-NEXT: func.return (%a, %a)
  %a = pd.tanh (%x) : tensor<4xf32>
  %b = pd.tanh (%x) : tensor<4xf32>
  func.return (%a, %b)
}
builtin.module @inner {
  // A function in a module inside is one as well.
  // CHECK: func.func @g
  func.func @g (%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
    // CHECK: %a = pd.tanh (%x)
    // CHECK-NEXT: func.return (%a, %a)
    %a = pd.tanh (%x) : tensor<4xf32>
    %b = pd.tanh (%x) : tensor<4xf32>
    func.return (%a, %b)
  }
}
