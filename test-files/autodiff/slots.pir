// RUN: pir-opt --pass=backward,remat{slots=2} %s | FileCheck %s
// RUN: pir-opt --pass=backward,remat{slots} %s | FileCheck %s --check-prefix=LOG
// RUN: pir-opt --pass=backward,remat{slots},strip-backward %s | FileCheck %s --check-prefix=STRIP
// RUN: pir-opt --pass=backward,remat{slots},strip-backward{by=liveness} %s | FileCheck %s --check-prefix=STRIP
// RUN: pir-opt --pass=backward,remat %s | FileCheck %s --check-prefix=RECORD
// With `slots` the dual runs the loop again. The counter of the program tells how many iterations there were, and is no part of the state.
%x = pd.data {name = "x", shape = [2], dtype = f64} : tensor<2xf64>
%n = pd.data {name = "n", shape = [], dtype = i64} : tensor<i64>
%zero = pd.full {shape = [], value = 0, dtype = i64} : tensor<i64>
%one = pd.full {shape = [], value = 1, dtype = i64} : tensor<i64>
%i_end, %y = pd.while (%zero, %x) cond (%i: tensor<i64>, %a: tensor<2xf64>) {
  %go = pd.less_than (%i, %n) : tensor<i1>
  cf.cond_yield (%go, %i, %a)
} body (%i: tensor<i64>, %a: tensor<2xf64>) {
  %t = pd.sin (%a) : tensor<2xf64>
  %next = pd.add (%i, %one) : tensor<i64>
  cf.yield (%next, %t)
} : tensor<i64>, tensor<2xf64>
pd.fetch (%y) {name = "y"}

// CHECK: %i_end, %y = pd.while (%zero, %x) cond
// CHECK-NOT: cf.push_back
// CHECK: pd.fetch (%y)
// CHECK-NEXT: %y_grad = pd.full
// CHECK: %room = pd.full {shape = [], value = 2, dtype = i64}
// CHECK-NEXT: %snapshots = cf.create_stack
// CHECK-NEXT: cf.push_back (%snapshots, %x)
// CHECK-NEXT: cf.push_back (%snapshots
// CHECK-NEXT: pd.while_grad (%y_grad, %i_end, %room)
// CHECK-COUNT-2: cf.pop_back (%snapshots)
// CHECK: %from{{.*}}, %room{{.*}}, %a{{.*}} = pd.while
// CHECK-COUNT-2: cf.push_back (%snapshots
// CHECK: %replayed, {{%[a-z0-9_]+}} = pd.while
// CHECK-NOT: cf.push_back
// CHECK: pd.sin
// CHECK: cf.yield
// CHECK-NOT: cf.push_back
// CHECK: pd.cos
// CHECK: pd.fetch {{.*}} {name = "x_grad"}

// LOG: %y_grad = pd.full
// LOG: %reached, %room = pd.while (%one_1, %zero_1)
// LOG: pd.less_than (%reached, %i_end)

// STRIP: %one = pd.full
// STRIP-NEXT: %i_end, %y = pd.while (%zero, %x) cond (%i: tensor<i64>, %a: tensor<2xf64>) {
// STRIP-NEXT: pd.less_than
// STRIP-NEXT: cf.cond_yield (%go, %i, %a)
// STRIP-NEXT: } body (%i: tensor<i64>, %a: tensor<2xf64>) {
// STRIP-NEXT: pd.sin
// STRIP-NEXT: pd.add
// STRIP-NEXT: cf.yield (%next, %t)
// STRIP-NEXT: } : tensor<i64>, tensor<2xf64>
// STRIP-NEXT: pd.fetch (%y) {name = "y"}
// STRIP-NOT: {{.}}

// RECORD: cf.push_back (%stack, %a)
// RECORD-NOT: %snapshots
