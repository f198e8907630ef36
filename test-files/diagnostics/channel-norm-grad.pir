// RUN: not pir-opt --split-input-file %s 2>&1 | FileCheck %s
// The operands of a gradient of channels agree with each other.
%x = pd.data {name = "x", shape = [2, 3, 4], dtype = f32}
%m = pd.data {name = "m", shape = [4], dtype = f32}
%f = pd.data {name = "f", shape = [3], dtype = f32}
%g = pd.data {name = "g", shape = [2, 3, 4], dtype = f32}
// CHECK: error: {{.*}}`mean` must have one element for each of 3 channels
%dx, %ds, %db = pd.channel_norm_grad (%x, %m, %f, %g)

// -----

%x = pd.data {name = "x", shape = [2, 3, 4], dtype = f32}
%m = pd.data {name = "m", shape = [4], dtype = f32}
%s = pd.data {name = "s", shape = [1, 4], dtype = f32}
%g = pd.data {name = "g", shape = [2, 3, 4], dtype = f32}
// CHECK: error: {{.*}}`scale` must have one element for each of 4 channels
%dx, %ds, %db = pd.channel_norm_grad (%x, %m, %m, %g, %s) {data_format = "NHWC"}

// -----

%x = pd.data {name = "x", shape = [2, 3, 4], dtype = f32}
%m = pd.data {name = "m", shape = [3], dtype = f32}
%g = pd.data {name = "g", shape = [2, 4, 3], dtype = f32}
// CHECK: error: {{.*}}`out_grad` must have the shape of `x`
%dx, %ds, %db = pd.channel_norm_grad (%x, %m, %m, %g)
