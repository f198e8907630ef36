// RUN: pir-opt --pass=canonicalize %s | FileCheck %s

// What depends on constants alone is computed by the kernels, when the result is one number or a short list.

%two = pd.full {shape = [2, 2], value = 2.0, dtype = f32} : tensor<2x2xf32>
%product = pd.matmul (%two, %two) : tensor<2x2xf32>
%mean = pd.mean (%product) : tensor<f32>
%list = pd.full_int_array {value = [3, 4], dtype = i64} : tensor<2xi64>
%count = pd.prod (%list) : tensor<i64>
%twice = pd.add (%list, %list) : tensor<2xi64>
%zero = pd.full {shape = [], value = 0, dtype = i64} : tensor<i64>
%fails = pd.divide (%count, %zero) : tensor<i64>
%minus = pd.full {shape = [], value = -1.0, dtype = f32} : tensor<f32>
%nan = pd.sqrt (%minus) : tensor<f32>
pd.fetch (%mean) {name = "mean"}
pd.fetch (%count) {name = "count"}
pd.fetch (%twice) {name = "twice"}
pd.fetch (%fails) {name = "fails"}
pd.fetch (%nan) {name = "nan"}

// CHECK-DAG: %mean = pd.full {shape = [], value = 8.0, dtype = f32}
// CHECK-DAG: %count = pd.full {shape = [], value = 12, dtype = i64}
// CHECK-DAG: %twice = pd.full_int_array {value = [6, 8], dtype = i64}
// CHECK-DAG: %fails = pd.divide (%count, %zero)
// CHECK-DAG: %nan = pd.sqrt (%minus)
// CHECK-NOT: pd.matmul
