// RUN: pir-opt --pass=backward{wrt=x} %s | pir-run --check-grad - --input x=rand --input 'boxes=[[0.3,0.6,2.9,2.4],[0.6,0.2,3.0,3.1]]' --input 'counts=[1,1]' | FileCheck %s
// RUN: pir-opt --pass=backward{wrt=x},backward{of=x_grad,wrt=x},dce --emit=paddle-text %s | FileCheck %s --check-prefix=PADDLE
// Second derivatives of pooling: the gradient operations are linear, and their transposes pool again, or read at the places of maxima.
// CHECK: x {{.*}} ok

%x = pd.data {name = "x", shape = [2, 4, 4, 4], dtype = f64} : tensor<2x4x4x4xf64>
%boxes = pd.data {name = "boxes", shape = [2, 4], dtype = f64, stop_gradient = true} : tensor<2x4xf64>
%counts = pd.data {name = "counts", shape = [2], dtype = i32, stop_gradient = true} : tensor<2xi32>
%a = pd.roi_align (%x, %boxes, %counts) {pooled_height = 2, pooled_width = 2, sampling_ratio = 2, aligned = true} : tensor<2x4x2x2xf64>
%b, %at = pd.roi_pool (%x, %boxes, %counts) {pooled_height = 2, pooled_width = 2} : tensor<2x4x2x2xf64>, tensor<2x4x2x2xi64>
%c = pd.psroi_pool (%x, %boxes, %counts) {pooled_height = 2, pooled_width = 2, output_channels = 1} : tensor<2x1x2x2xf64>
%d, %places = pd.fractional_max_pool2d (%x) {output_size = [2, 2], random_u = 0.4} : tensor<2x4x2x2xf64>, tensor<2x4x2x2xi32>
%ab = pd.multiply (%a, %b) : tensor<2x4x2x2xf64>
%abc = pd.multiply (%ab, %c) : tensor<2x4x2x2xf64>
%dd = pd.sin (%d) : tensor<2x4x2x2xf64>
%one = pd.sum (%abc) : tensor<f64>
%two = pd.sum (%dd) : tensor<f64>
%loss = pd.add (%one, %two) : tensor<f64>
pd.fetch (%loss) {name = "loss"}

// PADDLE: "pd_op.roi_align_grad"
// PADDLE-DAG: "pd_op.roi_align" {{.*}} -> tensor<2x4x2x2xf64>
// PADDLE-DAG: "pd_op.psroi_pool" {{.*}} -> tensor<2x1x2x2xf64>
// PADDLE-DAG: "pd_op.take_along_axis"
