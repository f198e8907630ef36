// RUN: pir-opt --pass=backward %s | FileCheck %s
// A linear body: the derivative reads nothing of it. Its stack could not tell how often to run; the count does.
%n = pd.data {name = "n", shape = [1], dtype = i64} : tensor<1xi64>
%zero = pd.full {shape = [1], value = 0, dtype = i64} : tensor<1xi64>
%one = pd.full {shape = [1], value = 1, dtype = i64} : tensor<1xi64>
%x = pd.data {name = "x", shape = [4], dtype = f64} : tensor<4xf64>
%i_end, %y_end = pd.while (%zero, %x) cond (%i: tensor<1xi64>, %y: tensor<4xf64>) {
  %go = pd.less_than (%i, %n) : tensor<1xi1>
  cf.cond_yield (%go, %i, %y)
} body (%i_b: tensor<1xi64>, %y_b: tensor<4xf64>) {
  %p = pd.scale (%y_b) {scale = 1.5} : tensor<4xf64>
  %next = pd.add (%i_b, %one) : tensor<1xi64>
  cf.yield (%next, %p)
} : tensor<1xi64>, tensor<4xf64>
%loss = pd.sum (%y_end) : tensor<f64>
pd.fetch (%loss) {name = "loss"}
// CHECK-NOT: cf.create_stack
// CHECK: %trips = pd.while (%zero, %x, %no_trips) cond
// CHECK: pd.increment (%trip
// CHECK: pd.while_grad ({{.*}}, %trips) cond
// CHECK: pd.greater_than
// CHECK: pd.increment {{.*}} {value = -1.0}
// CHECK: pd.fetch {{.*}} {name = "x_grad"}
