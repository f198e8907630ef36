// Results and derivatives at the edges of operations, as PaddlePaddle's eager engine has them; tools/paddle/sweep compares
// all of them.
// RUN: pir-run %s --input x=[1,2,2.5] --input y=[1,3,2] | FileCheck %s
// RUN: pir-opt --pass=backward %s | pir-run - --input x=[1,2,2.5] --input y=[1,3,2] | FileCheck %s --check-prefixes=CHECK,GRAD
// RUN: pir-run --eager-grad %s --input x=[1,2,2.5] --input y=[1,3,2] | FileCheck %s --check-prefixes=CHECK,GRAD
%values = pd.assign_value {shape = [4], dtype = f32, values = [0.5, 1.5, -2.5, 3.0e+10]}
%rounded = pd.round (%values)
pd.fetch (%rounded) {name = "rounded"}
// CHECK: rounded = {{.*}} [0, 2, -2, 30000000000]
%i32 = pd.cast (%values) {dtype = i32}
pd.fetch (%i32) {name = "i32"}
// CHECK: i32 = {{.*}} [0, 1, -2, -2147483648]
%i8 = pd.cast (%values) {dtype = i8}
pd.fetch (%i8) {name = "i8"}
// CHECK: i8 = {{.*}} [0, 1, -2, 0]
%sum = pd.sum (%i8)
pd.fetch (%sum) {name = "sum"}
// CHECK: sum = tensor<i8> -1
%integers = pd.assign_value {shape = [3], dtype = i32, values = [-7.0, 2.0, 1.0]}
%product = pd.prod (%integers)
pd.fetch (%product) {name = "product"}
// CHECK: product = tensor<i32> -14
%mean = pd.mean (%integers)
pd.fetch (%mean) {name = "mean"}
// CHECK: mean = tensor<i32> -1
%scaled = pd.scale (%integers) {scale = 1.5, bias = 1.0}
pd.fetch (%scaled) {name = "scaled"}
// CHECK: scaled = tensor<3xi32> [-6, 3, 2]
%by = pd.full_int_array {value = [1], dtype = i64}
%rolled = pd.roll (%integers, %by) {axis = [0]}
pd.fetch (%rolled) {name = "rolled"}
// CHECK: rolled = tensor<3xi32> [1, -7, 2]
%huge = pd.full {shape = [], value = 1.0e+300, dtype = f64}
%logarithm = pd.asinh (%huge)
pd.fetch (%logarithm) {name = "logarithm"}
// CHECK: logarithm = tensor<f64> 691.46
%best, %place = pd.topk (%huge) {k = 1}
pd.fetch (%place) {name = "place"}
// CHECK: place = tensor<i64> 0
%ones = pd.full {shape = [1, 1, 3, 3], value = 1.0, dtype = f64}
%means = pd.pool2d (%ones) {kernel_size = [2, 2], strides = [2, 2], ceil_mode = true, exclusive = false, pooling_type = "avg"}
pd.fetch (%means) {name = "means"}
// CHECK: means = tensor<1x1x2x2xf64> {{\[\[\[\[}}1, 1], [1, 1]]]]
%logit = pd.full {shape = [1], value = 0.0, dtype = f64}
%label = pd.full {shape = [1], value = 0.5, dtype = f64}
%weight = pd.full {shape = [1], value = 2.0, dtype = f64}
%loss = pd.sigmoid_cross_entropy_with_logits (%logit, %label, %weight)
pd.fetch (%loss) {name = "loss"}
// CHECK: loss = tensor<1xf64> [1.386294361119890
%x = pd.data {name = "x", shape = [3], dtype = f64}
%y = pd.data {name = "y", shape = [3], dtype = f64}
// A tie: all of it to the first.
%larger = pd.fmax (%x, %y)
pd.fetch (%larger) {name = "larger"}
// CHECK: larger = {{.*}} [1, 3, 2.5]
%square = pd.reshape (%x) {shape = [1, 3]}
%flat = pd.cumsum (%square) {flatten = true}
pd.fetch (%flat) {name = "flat"}
// CHECK: flat = tensor<3xf64> [1, 3, 5.5]
%all = pd.sum (%square) {axis = [-1, 0]}
pd.fetch (%all) {name = "all"}
// CHECK: all = tensor<f64> 5.5
// GRAD: x_grad = tensor<3xf64> [5, 3, 3]
// GRAD: y_grad = tensor<3xf64> [0, 1, 0]
