// RUN: pir-run --check-grad %s --input x=rand --input 'b=[[[0.3,0.4,0.2,0.3],[0.7,0.6,0.4,0.3]]]' --input 'g=[[0,1]]' | FileCheck %s
// CHECK: x {{.*}} ok
%x = pd.data {name = "x", shape = [1, 14, 4, 4], dtype = f64} : tensor<1x14x4x4xf64>
%b = pd.data {name = "b", shape = [1,2,4], dtype = f64, stop_gradient = true} : tensor<1x2x4xf64>
%g = pd.data {name = "g", shape = [1, 2], dtype = i32} : tensor<1x2xi32>
%o, %m, %mm = pd.yolo_loss (%x, %b, %g) {anchors = [10, 13, 16, 30], anchor_mask = [0, 1], class_num = 2, ignore_thresh = 0.7, downsample_ratio = 32, use_label_smooth = true, scale_x_y = 1.0} : tensor<1xf64>, tensor<1x2x4x4xf64>, tensor<1x2xi32>
%l = pd.sum (%o)
pd.fetch (%l) {name = "l"}
