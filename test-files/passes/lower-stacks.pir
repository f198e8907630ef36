// RUN: pir-opt --pass=backward,lower-stacks{bound=8,overflow=nan} %s | FileCheck %s
// RUN: not pir-opt --pass=backward,lower-stacks %s 2>&1 | FileCheck %s --check-prefix=NONE
// The loop carries a buffer and a counter, the dual the counter alone; what the branch pushes is written behind it.
%n = pd.data {name = "n", shape = [], dtype = i64} : tensor<i64>
%x = pd.data {name = "x", shape = [3], dtype = f32} : tensor<3xf32>
%zero = pd.full {shape = [], value = 0, dtype = i64} : tensor<i64>
%one = pd.full {shape = [], value = 1, dtype = i64} : tensor<i64>
%i_end, %y = pd.while (%zero, %x) cond (%i: tensor<i64>, %a: tensor<3xf32>) {
  %go = pd.less_than (%i, %n) : tensor<i1>
  cf.cond_yield (%go, %i, %a)
} body (%i: tensor<i64>, %b: tensor<3xf32>) {
  %is_first = pd.equal (%i, %zero) : tensor<i1>
  %c = pd.if (%is_first) then {
    %s = pd.sin (%b) : tensor<3xf32>
    %t = pd.tanh (%s) : tensor<3xf32>
    %u = pd.multiply (%t, %s) : tensor<3xf32>
    cf.yield (%u)
  } else {
    %d = pd.scale (%b) {scale = 0.5} : tensor<3xf32>
    cf.yield (%d)
  } : tensor<3xf32>
  %next = pd.add (%i, %one) : tensor<i64>
  cf.yield (%next, %c)
} : tensor<i64>, tensor<3xf32>
pd.fetch (%y) {name = "y"}

// CHECK-NOT: cf.{{.*}}stack
// CHECK: [[ROWS:%rows[_0-9]*]] = pd.full {shape = [17, 3], value = 0.0, dtype = f32} : tensor<17x3xf32>
// CHECK: pd.while ({{.*}}[[ROWS]]
// CHECK: } body
// CHECK: {{.*}} = pd.if (%is_first) then {
// CHECK: cf.yield (%u, %s, {{%[0-9]+}}, %t)
// CHECK: } else {
// CHECK-COUNT-2: pd.full {shape = [3]
// CHECK: cf.yield (%d, 
// CHECK-COUNT-2: stablehlo.dynamic_update_slice ({{.*}}) : tensor<17x3xf32>
// CHECK: %overflow
// CHECK: pd.while_grad
// CHECK-NOT: tensor<17x3xf32>,
// CHECK: stablehlo.dynamic_slice
// CHECK: pd.where (%overflow
// CHECK: pd.fetch ({{.*}}) {name = "x_grad"}

// NONE: [[#]]:{{.*}} error: the trip count of a loop is unknown, so the size of its records is unknown: this loop [stack-bound]
// NONE: help: give a bound, as in `lower-stacks{bound=1024}`, or run `remat{slots=32,segment=128}` first
