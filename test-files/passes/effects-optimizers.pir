// RUN: pir-opt --pass=dce,canonicalize,cse,licm,sink %s | FileCheck %s
// RUN: pir-opt -O3 %s | FileCheck %s
// Parameters are read again by the next run.

%w = pd.parameter {name = "w"} : tensor<2xf32>
%b = pd.parameter {name = "b"} : tensor<2xf32>
%lr = pd.full {shape = [1], value = 0.1, dtype = f32} : tensor<1xf32>
%g = pd.scale (%w) {scale = 2.0} : tensor<2xf32>
%n = pd.sgd_ (%w, %lr, %g) : tensor<2xf32>
%m = pd.add (%b, %g) : tensor<2xf32>
%k = pd.assign_out_ (%m, %b) : tensor<2xf32>
%l = pd.sum (%g) : tensor<f32>
pd.fetch (%l) {name = "l"}

// CHECK: pd.sgd_ (%w, %lr, %g)
// CHECK: %m = pd.add (%b, %g)
// CHECK: pd.assign_out_ (%m, %b)
