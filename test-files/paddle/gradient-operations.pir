// Gradient operations that PaddlePaddle emits: `pir-run` puts what they compute in their places, and so does `decompose`.
// RUN: pir-opt --pass=decompose %s | FileCheck %s
// RUN: pir-opt --pass=decompose,dce %s | pir-run - --input x=[[1,2],[3,5]] --input g=[[1,0],[0,2]] --input b=[1,-1] > %t.after
// RUN: pir-run %s --input x=[[1,2],[3,5]] --input g=[[1,0],[0,2]] --input b=[1,-1] | diff %t.after -
// RUN: pir-run %s --input x=[[1,2],[3,5]] --input g=[[1,0],[0,2]] --input b=[1,-1] | FileCheck %s --check-prefix=RAN
%x = pd.data {name = "x", shape = [2, 2], dtype = f64}
%g = pd.data {name = "g", shape = [2, 2], dtype = f64}
%b = pd.data {name = "b", shape = [2], dtype = f64}

// Both operands are one value: each has its own cotangent.
// CHECK-NOT: pd.multiply_grad
// RAN: square = tensor<2x2xf64> {{\[}}[1, 0], [0, 10]]
%left, %right = pd.multiply_grad (%x, %x, %g) : tensor<2x2xf64>, tensor<2x2xf64>
pd.fetch (%right) {name = "square"}

// What was broadcast is summed.
// RAN: bias = tensor<2xf64> [1, 2]
%wide, %bias = pd.add_grad (%x, %b, %g) : tensor<2x2xf64>, tensor<2xf64>
pd.fetch (%bias) {name = "bias"}

// The shape of the operand is the type of the result.
// RAN: flat = tensor<4xf64> [1, 0, 0, 2]
%four = pd.reshape (%x) {shape = [4]}
%flat = pd.reshape_grad (%four, %g) : tensor<4xf64>
pd.fetch (%flat) {name = "flat"}

// Its rule reads the operand, its gradient operation the result.
// RAN: selu = tensor<2x2xf64> {{\[}}[1.05
%selu = pd.selu_grad (%x, %g) : tensor<2x2xf64>
pd.fetch (%selu) {name = "selu"}

// RAN: product = tensor<2x2xf64> {{\[}}[1, 3], [4, 10]]
// CHECK-NOT: pd.matmul_grad
%product, %other = pd.matmul_grad (%x, %x, %g) : tensor<2x2xf64>, tensor<2x2xf64>
pd.fetch (%product) {name = "product"}
