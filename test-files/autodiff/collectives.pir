// RUN: pir-opt --pass=O1,backward{rank=1},canonicalize,cse,licm,dce %s | FileCheck %s
// RUN: pir-opt --pass=backward,dce %s | FileCheck %s --check-prefix=ANY
// RUN: pir-opt --pass=backward{rank=1} --emit=paddle-text %s | FileCheck %s --check-prefix=PADDLE

// Collectives stay where they are and in their order, though two are alike and one is not used; so do their derivatives, which are
// collectives again. In a loop they are in the loop.
%x = pd.data {name = "x", shape = [4], dtype = f32} : tensor<4xf32>
%i = pd.full {shape = [1], value = 0, dtype = i64} : tensor<1xi64>
%n = pd.full {shape = [1], value = 3, dtype = i64} : tensor<1xi64>
%a = pd.all_reduce (%x) : tensor<4xf32>
%b = pd.all_reduce (%x) : tensor<4xf32>
%unused = pd.all_reduce (%x) {reduce_type = 1} : tensor<4xf32>
%p = pd.multiply (%a, %b) : tensor<4xf32>
%t, %y = pd.while (%i, %p) cond (%j: tensor<1xi64>, %c: tensor<4xf32>) {
  %go = pd.less_than (%j, %n) : tensor<1xi1>
  cf.cond_yield (%go, %j, %c)
} body (%k: tensor<1xi64>, %d: tensor<4xf32>) {
  %next = pd.scale (%k) {bias = 1.0} : tensor<1xi64>
  %s = pd.all_reduce (%d) : tensor<4xf32>
  %e = pd.tanh (%s) : tensor<4xf32>
  cf.yield (%next, %e)
} : tensor<1xi64>, tensor<4xf32>
%all = pd.all_gather (%y) {nranks = 2} : tensor<8xf32>
%loss = pd.sum (%all) : tensor<f32>
pd.fetch (%loss) {name = "loss"}

// CHECK: pd.all_reduce (%x)
// CHECK-NEXT: pd.all_reduce (%x)
// CHECK-NEXT: pd.all_reduce (%x) {reduce_type = 1}
// CHECK: pd.while
// CHECK: pd.all_reduce
// CHECK: pd.all_gather
// CHECK: pd.all_reduce ({{.*}}) : tensor<8xf32>
// CHECK: pd.slice
// CHECK: pd.while_grad
// CHECK: pd.all_reduce ({{.*}}) : tensor<4xf32>
// CHECK: } : tensor<4xf32>
// CHECK: pd.all_reduce
// CHECK: pd.all_reduce
// CHECK-NOT: pd.all_reduce

// ANY: pd.reduce_scatter ({{.*}}) {nranks = 2} : tensor<4xf32>

// PADDLE: "pd_op.all_reduce" {{.*}} {reduce_type:0,ring_id:0
// PADDLE: "pd_op.all_gather" {{.*}} {nranks:2,ring_id:0
