// PaddlePaddle's own gradient operations, for programs that its executor runs.
// RUN: pir-opt --pass='backward{twins=true},dce' %s | FileCheck %s
// RUN: pir-opt --pass=backward %s | FileCheck %s --check-prefix=OWN
// RUN: pir-opt --pass='backward{twins=true}' %s | pir-run - --input x=[[1,2],[3,5]] --input w=[[0.5,0],[0,2]] > %t.theirs
// RUN: pir-opt --pass=backward %s | pir-run - --input x=[[1,2],[3,5]] --input w=[[0.5,0],[0,2]] | diff %t.theirs -
// RUN: pir-opt --pass='backward{twins=true}' --emit=paddle-json %s | FileCheck %s --check-prefix=WRITTEN
%x = pd.data {name = "x", shape = [2, 2], dtype = f64}
%w = pd.data {name = "w", shape = [2, 2], dtype = f64}
%y = pd.matmul (%x, %w)
%y0 = pd.reshape (%y) {shape = [1, 2, 1, 2]}
%z = pd.mean (%y) {axis = [0]}
pd.fetch (%z) {name = "z"}
// Those that are known to be wrong there are not used.
%groups, %mean, %variance = pd.group_norm (%y0) {groups = 2} : tensor<1x2x1x2xf64>, tensor<1x2xf64>, tensor<1x2xf64>
%largest = pd.dist (%x, %w) {p = 0x7FF0000000000000 : f64} : tensor<f64>
pd.fetch (%groups) {name = "groups"}
pd.fetch (%largest) {name = "largest"}

// CHECK-NOT: pd.group_norm_grad
// CHECK-NOT: pd.dist_grad
// CHECK: pd.mean_grad (%y,
// CHECK: pd.matmul_grad (%x, %w,
// OWN-NOT: pd.matmul_grad
// WRITTEN: matmul_grad
