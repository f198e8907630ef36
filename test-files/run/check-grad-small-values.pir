// RUN: pir-run --check-grad --input x=[1e-300,1e-200,1e-9] --input y=[1e-200,1e-12,5] --input z=[1e-100,1e-5,-1e-8] %s | FileCheck %s
// Steps in proportion to a value of less than one find these derivatives, which are very large.
%x = pd.data {name = "x", shape = [3], dtype = f64} : tensor<3xf64>
%y = pd.data {name = "y", shape = [3], dtype = f64} : tensor<3xf64>
%z = pd.data {name = "z", shape = [3], dtype = f64} : tensor<3xf64>
%a = pd.sqrt (%x) : tensor<3xf64>
%b = pd.log (%y) : tensor<3xf64>
%c = pd.reciprocal (%z) : tensor<3xf64>
pd.fetch (%a) {name = "a"}
pd.fetch (%b) {name = "b"}
pd.fetch (%c) {name = "c"}
// CHECK: x {{.*}} ok
// CHECK: y {{.*}} ok
// CHECK: z {{.*}} ok
