// RUN: pir-opt --emit=generic %s | FileCheck %s
// RUN: pir-opt --emit=generic %s | pir-opt | FileCheck %s --check-prefix=BACK

// In MLIR a name that begins with a digit is a number.
// CHECK: %v0_grad = "pd.data"
// CHECK: %1 = "pd.tanh"(%v0_grad)
// CHECK: %v0_1 = "pd.tanh"(%1)
// BACK: %v0_1 = pd.tanh (%1)
%0_grad = pd.data {name = "x", shape = [2], dtype = f64} : tensor<2xf64>
%1 = pd.tanh (%0_grad) : tensor<2xf64>
%0_1 = pd.tanh (%1) : tensor<2xf64>
pd.fetch (%0_1) {name = "y"}
