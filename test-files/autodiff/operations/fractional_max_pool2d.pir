// RUN: pir-run --check-grad %s --input x=rand | FileCheck %s
// CHECK: x {{.*}} ok
%x = pd.data {name = "x", shape = [1, 2, 6, 6], dtype = f64} : tensor<1x2x6x6xf64>
%o, %m = pd.fractional_max_pool2d (%x) {output_size = [3, 4], kernel_size = [0, 0], random_u = 0.3, return_mask = true} : tensor<1x2x3x4xf64>, tensor<1x2x3x4xi32>
%c = pd.sin (%o)
%l = pd.sum (%c)
pd.fetch (%l) {name = "l"}
