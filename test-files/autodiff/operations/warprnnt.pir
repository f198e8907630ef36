// RUN: pir-run --check-grad %s --input x=rand --input 'lab=[[1,2],[3,1]]' --input 'il=[4,3]' --input 'll=[2,1]' | FileCheck %s
// CHECK: x {{.*}} ok
%x = pd.data {name = "x", shape = [2, 4, 3, 5], dtype = f64} : tensor<2x4x3x5xf64>
%lab = pd.data {name = "lab", shape = [2, 2], dtype = i32} : tensor<2x2xi32>
%il = pd.data {name = "il", shape = [2], dtype = i32} : tensor<2xi32>
%ll = pd.data {name = "ll", shape = [2], dtype = i32} : tensor<2xi32>
%n = pd.log_softmax (%x) {axis = -1}
%o, %g = pd.warprnnt (%n, %lab, %il, %ll) {blank = 0, fastemit_lambda = 0.0} : tensor<2xf64>, tensor<2x4x3x5xf64>
%l = pd.sum (%o)
pd.fetch (%l) {name = "l"}
