// RUN: not pir-opt --split-input-file %s 2>&1 | FileCheck %s
// The operands of a gradient of attention agree with each other.
%q = pd.data {name = "q", shape = [2, 3, 4], dtype = f32}
%k = pd.data {name = "k", shape = [5, 4], dtype = f32}
%v = pd.data {name = "v", shape = [2, 5, 6], dtype = f32}
%g = pd.data {name = "g", shape = [2, 3, 6], dtype = f32}
// CHECK: error: {{.*}}`key` must have the batch dimensions of the result, [2]
%dq, %dk, %dv = pd.scaled_dot_product_attention_grad (%q, %k, %v, %g)

// -----

%q = pd.data {name = "q", shape = [3, 4], dtype = f32}
%k = pd.data {name = "k", shape = [5, 4], dtype = f32}
%v = pd.data {name = "v", shape = [5, 6], dtype = f32}
// CHECK: error: {{.*}}`out_grad` must have the shape of the result, [3, 6]
%dq, %dk, %dv = pd.scaled_dot_product_attention_grad (%q, %k, %v, %v)

// -----

%q = pd.data {name = "q", shape = [3, 4], dtype = f32}
%k = pd.data {name = "k", shape = [5, 4], dtype = f32}
%v = pd.data {name = "v", shape = [5, 6], dtype = f32}
%g = pd.data {name = "g", shape = [3, 6], dtype = f32}
%m = pd.data {name = "m", shape = [2, 3, 5], dtype = f32}
// CHECK: error: {{.*}}the mask must broadcast to the weights
%dq, %dk, %dv = pd.scaled_dot_product_attention_grad (%q, %k, %v, %g, %m)
