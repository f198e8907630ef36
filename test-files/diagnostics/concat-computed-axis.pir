// RUN: not pir-opt %s 2>&1 | FileCheck %s

// In PaddlePaddle's programs the tensor behind a list is the axis.
%a = pd.data {name = "a", shape = [2], dtype = i64} : tensor<2xi64>
%b = pd.data {name = "b", shape = [2], dtype = i64} : tensor<2xi64>
%z = pd.data {name = "z", shape = [1], dtype = i64} : tensor<1xi64>
%l = builtin.combine (%a, %b) : vec<tensor<2xi64>, tensor<2xi64>>
// CHECK: :[[@LINE+1]]:6: error: `pd.concat`: the operands are a list and a tensor, without an attribute `axis`
%c = pd.concat (%l, %z)
