// RUN: pir-opt --pass=backward{wrt=x} %s | pir-run --check-grad - --input x=rand | FileCheck %s
// Second derivatives of a fractional maximum of volumes: the cotangent is read at the places of the maxima.
// CHECK: x {{.*}} ok

%x = pd.data {name = "x", shape = [1, 2, 3, 4, 3], dtype = f64} : tensor<1x2x3x4x3xf64>
%pooled, %places = pd.fractional_max_pool3d (%x) {output_size = [2, 2, 2], random_u = 0.4} : tensor<1x2x2x2x2xf64>, tensor<1x2x2x2x2xi32>
%sine = pd.sin (%pooled) : tensor<1x2x2x2x2xf64>
%loss = pd.sum (%sine) : tensor<f64>
pd.fetch (%loss) {name = "loss"}
