// RUN: pir-run --check-grad %s --input x=rand | FileCheck %s
// CHECK: x {{.*}} ok
%x = pd.data {name = "x", shape = [1, 2, 4, 5, 4], dtype = f64} : tensor<1x2x4x5x4xf64>
%o, %m = pd.fractional_max_pool3d (%x) {output_size = [2, 3, 2], kernel_size = [0, 0, 0], random_u = 0.3, return_mask = true} : tensor<1x2x2x3x2xf64>, tensor<1x2x2x3x2xi32>
%c = pd.sin (%o)
%l = pd.sum (%c)
pd.fetch (%l) {name = "l"}
