// RUN: pir-opt --split-input-file --pass=dce,canonicalize,cse,licm,sink %s | FileCheck %s
// RUN: pir-opt --split-input-file -O3 %s | FileCheck %s
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

// -----

// Two steps that look alike are two steps, in a loop too, and nothing is read across them.
%p = pd.parameter {name = "p"} : tensor<2xf32>
%g = pd.data {name = "g", shape = [2], dtype = f32} : tensor<2xf32>
%v = pd.parameter {name = "v"} : tensor<2xf32>
%a = pd.parameter {name = "a"} : tensor<1xf32>
%rate = pd.full {shape = [1], value = 0.1, dtype = f32} : tensor<1xf32>
%i = pd.full {shape = [], value = 0, dtype = i64} : tensor<i64>
%n = pd.full {shape = [], value = 3, dtype = i64} : tensor<i64>
// CHECK: pd.momentum_ (%p, %g, %v, %rate)
// CHECK: pd.momentum_ (%p, %g, %v, %rate)
%p1, %v1 = pd.momentum_ (%p, %g, %v, %rate) {mu = 0.9} : tensor<2xf32>, tensor<2xf32>
%p2, %v2 = pd.momentum_ (%p, %g, %v, %rate) {mu = 0.9} : tensor<2xf32>, tensor<2xf32>
// CHECK: pd.adam_ (%p, %g, %rate, %v, %v, %a, %a)
%k = pd.while (%i) cond (%j: tensor<i64>) {
  %go = pd.less_than (%j, %n) : tensor<i1>
  cf.cond_yield (%go, %j)
} body (%j: tensor<i64>) {
  %p3, %m3, %n3, %a3, %b3 = pd.adam_ (%p, %g, %rate, %v, %v, %a, %a) {absent_operands = [5]} : tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<1xf32>, tensor<1xf32>
  %next = pd.increment (%j) {value = 1} : tensor<i64>
  cf.yield (%next)
} : tensor<i64>
