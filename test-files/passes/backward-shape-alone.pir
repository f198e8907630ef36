// RUN: pir-opt --pass=backward %s | FileCheck %s
// RUN: pir-run --check-grad %s --input n=3 --input x=[[1,2,3,4],[5,6,7,8]] --input y=[[1,1,2,2],[3,3,4,4]] | FileCheck %s --check-prefix=GRAD
// RUN: pir-opt --pass=backward,strip-backward %s | FileCheck %s --check-prefix=STRIP
// GRAD: x {{.*}} ok
// GRAD: y {{.*}} ok
// STRIP-NOT: pd.shape
// Of %d the derivative reads the shape alone, which is not known before; of %b and %c it reads the numbers.
// CHECK: cf.push_back (%stack, %b)
// CHECK-NEXT: cf.push_back (%stack, %c)
// CHECK-NEXT: %d_shape = pd.shape (%d) {recorded = true} : tensor<2xi64>
// CHECK-NEXT: cf.push_back (%stack, %d_shape)
// CHECK-NEXT: cf.yield
// CHECK: %d_shape = cf.pop_back (%stack) : tensor<2xi64>
// CHECK: %d_like = pd.expand ({{.*}}, %d_shape)
// CHECK: pd.expand_as (%s_grad, %d_like)
%n = pd.data {name = "n", shape = [1], dtype = i64} : tensor<1xi64>
%zero = pd.full {shape = [1], value = 0, dtype = i64} : tensor<1xi64>
%one = pd.full {shape = [1], value = 1, dtype = i64} : tensor<1xi64>
%x = pd.data {name = "x", shape = [-1, 4], dtype = f64} : tensor<?x4xf64>
%y = pd.data {name = "y", shape = [-1, 4], dtype = f64} : tensor<?x4xf64>
%s0 = pd.full {shape = [], value = 0.0, dtype = f64} : tensor<f64>
%ie, %xe, %se = pd.while (%zero, %x, %s0) cond (%i: tensor<1xi64>, %a: tensor<?x4xf64>, %s: tensor<f64>) {
  %go = pd.less_than (%i, %n) : tensor<1xi1>
  cf.cond_yield (%go, %i, %a, %s)
} body (%i: tensor<1xi64>, %a: tensor<?x4xf64>, %s: tensor<f64>) {
  %next = pd.add (%i, %one) : tensor<1xi64>
  %b = pd.scale (%a) {scale = 2.0} : tensor<?x4xf64>
  %t0 = pd.sum (%b) : tensor<f64>
  %c = pd.multiply (%b, %y) : tensor<?x4xf64>
  %d = pd.square (%c) : tensor<?x4xf64>
  %t1 = pd.sum (%d) : tensor<f64>
  %t = pd.add (%t0, %t1) : tensor<f64>
  %s2 = pd.add (%s, %t) : tensor<f64>
  cf.yield (%next, %b, %s2)
} : tensor<1xi64>, tensor<?x4xf64>, tensor<f64>
pd.fetch (%se) {name = "loss"}
