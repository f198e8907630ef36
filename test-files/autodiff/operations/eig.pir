// RUN: pir-run --check-grad %s --input x=rand | FileCheck %s
// CHECK: x {{.*}} ok
%x = pd.data {name = "x", shape = [3, 3], dtype = f64} : tensor<3x3xf64>
%w, %v = pd.eig (%x) : tensor<3xcomplex<f64>>, tensor<3x3xcomplex<f64>>
%a = pd.abs (%w)
%l = pd.sum (%a)
%va = pd.abs (%v)
%s = pd.multiply (%va, %va)
%s2 = pd.multiply (%s, %s)
%k = pd.sum (%s2)
%t = pd.add (%l, %k)
pd.fetch (%t) {name = "l"}
