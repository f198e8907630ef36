// RUN: pir-opt --pass=backward{wrt=x} %s | pir-run --check-grad - --input x=rand --input 'labels=[[1,2,2],[3,-1,9],[1,3,1],[2,2,2]]' --input 'times=[6,4,5,2]' --input 'lengths=[3,1,3,3]' | FileCheck %s
// RUN: pir-opt --pass=backward{wrt=x},dce %s | FileCheck %s --check-prefix=FIRST
// RUN: pir-opt --pass=backward{wrt=x},backward{of=x_grad,wrt=x},dce --emit=paddle-json %s | pir-run - --input x=rand --input 'labels=[[1,2,2],[3,-1,9],[1,3,1],[2,2,2]]' --input 'times=[6,4,5,2]' --input 'lengths=[3,1,3,3]'
// Second derivatives of `warpctc`, whose slope is computed again, of other operations. What labels are filled up with is not read, and the
// last sequence has no path.
// CHECK: x {{.*}} ok

%x = pd.data {name = "x", shape = [6, 4, 4], dtype = f64} : tensor<6x4x4xf64>
%labels = pd.data {name = "labels", shape = [4, 3], dtype = i32} : tensor<4x3xi32>
%times = pd.data {name = "times", shape = [4], dtype = i64} : tensor<4xi64>
%lengths = pd.data {name = "lengths", shape = [4], dtype = i64} : tensor<4xi64>
%losses, %slope = pd.warpctc (%x, %labels, %times, %lengths) {blank = 0, norm_by_times = true} : tensor<4x1xf64>, tensor<6x4x4xf64>
%squares = pd.multiply (%losses, %losses) : tensor<4x1xf64>
%loss = pd.sum (%squares) : tensor<f64>
pd.fetch (%loss) {name = "loss"}

// FIRST: pd.warpctc_grad
// FIRST-NOT: pd.log_softmax
