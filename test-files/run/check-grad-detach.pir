// RUN: not pir-run --check-grad --input x=[1,2,3] %s | FileCheck %s
// The gradient must not see what is detached, and differences do: nothing can be told.
%x = pd.data {name = "x", shape = [3], dtype = f64} : tensor<3xf64>
%z = pd.detach (%x) : tensor<3xf64>
%y = pd.multiply (%x, %z) : tensor<3xf64>
pd.fetch (%y) {name = "y"}
// CHECK: x {{.*}} inconclusive {{.*}} differences ignore `pd.detach`
