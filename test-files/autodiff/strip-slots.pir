// RUN: pir-opt --pass='backward,remat{slots=1},strip-backward' %s | FileCheck %s
// RUN: pir-opt --pass='backward,remat{slots=1}' %s | pir-run - --input 'x=[[0.3], [0.7]]' | FileCheck %s --check-prefix=GRAD
// The inner loop counts for its dual only once it records nothing; when the outer loop is run again, its count is read by nobody.
// CHECK-NOT: trip
// GRAD: x_grad = tensor<2x1xf64> {{\[\[}}0.0127360556619056{{.*}}], [1]]

%x = pd.data {name = "x", shape = [2, 1], dtype = f64} : tensor<2x1xf64>
%v1 = pd.max (%x) : tensor<f64>
%c2 = pd.full {shape = [], value = -0.113, dtype = f64} : tensor<f64>
%v3 = pd.less_equal (%v1, %c2) : tensor<i1>
%v5 = pd.multiply (%v1, %v1) : tensor<f64>
%c7 = pd.full {shape = [], value = 3, dtype = i64} : tensor<i64>
%w54, %w55, %w56, %w57 = pd.while (%x, %v5, %c7, %x, %v3) cond (%a8: tensor<2x1xf64>, %a9: tensor<f64>, %a10: tensor<i64>, %a11: tensor<2x1xf64>, %a12: tensor<i1>) {
  %c14 = pd.full {shape = [], value = 0, dtype = i64} : tensor<i64>
  %v15 = pd.greater_than (%a10, %c14) : tensor<i1>
  cf.cond_yield (%v15, %a8, %a9, %a10, %a12)
} body (%b16: tensor<2x1xf64>, %b17: tensor<f64>, %b18: tensor<i64>, %b19: tensor<i1>) {
  %v20 = pd.subtract (%b17, %v1) : tensor<f64>
  %v21 = pd.sigmoid (%v20) : tensor<f64>
  %c22 = pd.full {shape = [], value = 1, dtype = i64} : tensor<i64>
  %c23 = pd.full {shape = [], value = 1, dtype = i64} : tensor<i64>
  %w45, %w46, %w47, %w48, %w49 = pd.while (%b16, %v20, %c22, %v20, %b16) cond (%a24: tensor<2x1xf64>, %a25: tensor<f64>, %a26: tensor<i64>, %a27: tensor<f64>, %a28: tensor<2x1xf64>) {
    %v30 = pd.less_than (%a26, %c22) : tensor<i1>
    %v31 = pd.max (%a24) : tensor<f64>
    %c32 = pd.full {shape = [], value = 0.27, dtype = f64} : tensor<f64>
    %v33 = pd.greater_than (%v31, %c32) : tensor<i1>
    %v34 = pd.logical_and (%v30, %v33) : tensor<i1>
    cf.cond_yield (%v34, %a24, %a25, %a26, %a27, %a28)
  } body (%b35: tensor<2x1xf64>, %b36: tensor<f64>, %b37: tensor<i64>, %b38: tensor<f64>, %b39: tensor<2x1xf64>) {
    %v43 = pd.add (%b37, %c23) : tensor<i64>
    %v44 = pd.sigmoid (%b39) : tensor<2x1xf64>
    cf.yield (%v44, %b36, %v43, %b38, %b39)
  } : tensor<2x1xf64>, tensor<f64>, tensor<i64>, tensor<f64>, tensor<2x1xf64>
  %v50 = pd.increment (%b18) {value = -1.0} : tensor<i64>
  %v51 = pd.sigmoid (%w45) : tensor<2x1xf64>
  %v52 = pd.sigmoid (%v21) : tensor<f64>
  %v53 = pd.maximum (%w49, %v51) : tensor<2x1xf64>
  cf.yield (%v53, %v52, %v50, %v51, %b19)
} : tensor<2x1xf64>, tensor<f64>, tensor<i64>, tensor<i1>
pd.fetch (%w54) {name = "o0"}
