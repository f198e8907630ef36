// RUN: pir-opt --pass=jvp %s | pir-run - --input a=[1.0] --input a_tangent=[10.0] --input b=[2.0,3.0] --input b_tangent=[0.5,0.25] | FileCheck %s
// The parts of the cotangent are added to one sum, which counts as one for each part.

%a = pd.data {name = "a", shape = [1], dtype = f64} : tensor<1xf64>
%b = pd.data {name = "b", shape = [2], dtype = f64} : tensor<2xf64>
%both = pd.concat (%a, %b) {axis = 0} : tensor<3xf64>
%squares = pd.square (%both) : tensor<3xf64>
pd.fetch (%squares) {name = "squares"}

// CHECK: squares = tensor<3xf64> [1, 4, 9]
// CHECK: squares_tangent = tensor<3xf64> [20, 2, 1.5]
