// RUN: pir-opt --pass=backward %s | FileCheck %s
// Newton's square root, which stops by the data as well as by the number of steps.
%n = pd.data {name = "n", shape = [1], dtype = i64} : tensor<1xi64>
%zero = pd.full {shape = [1], value = 0, dtype = i64} : tensor<1xi64>
%one = pd.full {shape = [1], value = 1, dtype = i64} : tensor<1xi64>
%x = pd.data {name = "x", shape = [3], dtype = f64} : tensor<3xf64>
%y0 = pd.data {name = "y", shape = [3], dtype = f64} : tensor<3xf64>
%eps = pd.full {shape = [], value = 1e-30, dtype = f64} : tensor<f64>
%i_end, %y_end = pd.while (%zero, %y0) cond (%i: tensor<1xi64>, %y: tensor<3xf64>) {
  %yy = pd.square (%y) : tensor<3xf64>
  %off = pd.subtract (%yy, %x) : tensor<3xf64>
  %off2 = pd.square (%off) : tensor<3xf64>
  %err = pd.sum (%off2) : tensor<f64>
  %far = pd.greater_than (%err, %eps) : tensor<i1>
  %few = pd.less_than (%i, %n) : tensor<1xi1>
  %go = pd.logical_and (%far, %few) : tensor<1xi1>
  cf.cond_yield (%go, %i, %y)
} body (%i_b: tensor<1xi64>, %y_b: tensor<3xf64>) {
  %q = pd.divide (%x, %y_b) : tensor<3xf64>
  %s = pd.add (%q, %y_b) : tensor<3xf64>
  %h = pd.scale (%s) {scale = 0.5} : tensor<3xf64>
  %next = pd.add (%i_b, %one) : tensor<1xi64>
  cf.yield (%next, %h)
} : tensor<1xi64>, tensor<3xf64>
%loss = pd.sum (%y_end) : tensor<f64>
pd.fetch (%loss) {name = "loss"}
// The squares of the condition have no part in the derivative.
// CHECK: pd.while_grad
// CHECK-NOT: pd.square
// CHECK: pd.fetch {{.*}} {name = "y_grad"}
