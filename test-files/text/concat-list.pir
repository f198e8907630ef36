// RUN: pir-opt %s | FileCheck %s

// With the attribute, and without a list, there is one reading.
%a = pd.data {name = "a", shape = [2], dtype = i64} : tensor<2xi64>
%z = pd.data {name = "z", shape = [1], dtype = i64} : tensor<1xi64>
%l = builtin.combine (%a, %a) : vec<tensor<2xi64>, tensor<2xi64>>
// CHECK: %c = pd.concat (%l, %z) {axis = 0} : tensor<5xi64>
%c = pd.concat (%l, %z) {axis = 0}
// CHECK: %d = pd.concat (%a, %z) : tensor<3xi64>
%d = pd.concat (%a, %z)
