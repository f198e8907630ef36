// PaddlePaddle's own gradient operations, for programs that its executor runs.
// RUN: pir-opt --pass='backward{twins=true},dce' %s | FileCheck %s
// RUN: pir-opt --pass=backward %s | FileCheck %s --check-prefix=OWN
// RUN: pir-opt --pass='backward{twins=true}' %s | pir-run - --input x=[[1,2],[3,5]] --input w=[[0.5,0],[0,2]] > %t.theirs
// RUN: pir-opt --pass=backward %s | pir-run - --input x=[[1,2],[3,5]] --input w=[[0.5,0],[0,2]] | diff %t.theirs -
// RUN: pir-opt --pass='backward{twins=true}' --emit=paddle-json %s | FileCheck %s --check-prefix=WRITTEN
%x = pd.data {name = "x", shape = [2, 2], dtype = f64}
%w = pd.data {name = "w", shape = [2, 2], dtype = f64}
%y = pd.matmul (%x, %w)
%z = pd.mean (%y) {axis = [0]}
pd.fetch (%z) {name = "z"}

// CHECK: pd.mean_grad (%y,
// CHECK: pd.matmul_grad (%x, %w,
// OWN-NOT: pd.matmul_grad
// WRITTEN: matmul_grad
