// RUN: pir-opt --pass=backward %s | FileCheck %s --check-prefix=WITH
// RUN: pir-opt --pass=backward,strip-backward %s | FileCheck %s
// RUN: pir-opt --pass=backward,cse,licm,dce,strip-backward{by=liveness} %s | FileCheck %s
// RUN: pir-opt --pass=backward,backward,strip-backward{orders=1} %s | FileCheck %s --check-prefix=WITH
// RUN: pir-opt --pass=backward,backward,strip-backward %s | FileCheck %s
// What `backward` put in goes; what was there stays, the stack that the program has of its own included.
%x = pd.data {name = "x", shape = [2], dtype = f64} : tensor<2xf64>
%n = pd.data {name = "n", shape = [], dtype = i64} : tensor<i64>
%zero = pd.full {shape = [], value = 0, dtype = i64} : tensor<i64>
%one = pd.full {shape = [], value = 1, dtype = i64} : tensor<i64>
%own = cf.create_stack () : cf.stack
cf.push_back (%own, %n)
%i_end, %y = pd.while (%zero, %x) cond (%i: tensor<i64>, %a: tensor<2xf64>) {
  %go = pd.less_than (%i, %n) : tensor<i1>
  cf.cond_yield (%go, %i, %a)
} body (%i: tensor<i64>, %a: tensor<2xf64>) {
  %t = pd.tanh (%a) : tensor<2xf64>
  %next = pd.add (%i, %one) : tensor<i64>
  cf.push_back (%own, %next)
  cf.yield (%next, %t)
} : tensor<i64>, tensor<2xf64>
%last = cf.pop_back (%own) : tensor<i64>
pd.fetch (%y) {name = "y"}
pd.fetch (%last) {name = "last"}

// The mark is on the first appended operation, and says how many gradients there are.
// WITH: %i_end, %y, %stack = pd.while
// WITH-COUNT-2: cf.push_back
// WITH: pd.fetch (%last) {name = "last"}
// WITH-NEXT: %y_grad = pd.full {shape = [2], value = 1.0, dtype = f64, backward = 1}
// WITH: pd.while_grad
// WITH: pd.fetch {{.*}} {name = "x_grad"}
// WITH-NOT: backward =

// CHECK: %own = cf.create_stack
// CHECK-NEXT: cf.push_back (%own, %n)
// CHECK-NEXT: %i_end, %y = pd.while (%zero, %x) cond (%i: tensor<i64>, %a: tensor<2xf64>) {
// CHECK-NEXT: pd.less_than
// CHECK-NEXT: cf.cond_yield (%go, %i, %a)
// CHECK-NEXT: } body (%i: tensor<i64>, %a: tensor<2xf64>) {
// CHECK-NEXT: pd.tanh
// CHECK-NEXT: pd.add
// CHECK-NEXT: cf.push_back (%own, %next)
// CHECK-NEXT: cf.yield (%next, %t)
// CHECK-NEXT: } : tensor<i64>, tensor<2xf64>
// CHECK-NEXT: %last = cf.pop_back (%own)
// CHECK-NEXT: pd.fetch (%y) {name = "y"}
// CHECK-NEXT: pd.fetch (%last) {name = "last"}
// CHECK-NOT: {{^(pd|cf|%)}}
