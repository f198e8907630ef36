// RUN: pir-opt --verify-diagnostics --split-input-file --pass=backward %s
// The path from an input to what cannot be differentiated is told.
%x = pd.data {name = "x", shape = [1, 1, 2, 2], dtype = f32} : tensor<1x1x2x2xf32>
%w = pd.data {name = "w", shape = [1, 1, 2, 2], dtype = f32} : tensor<1x1x2x2xf32>
%t = pd.tanh (%x) : tensor<1x1x2x2xf32>
// expected-note@+3 {{it is reached from an input by %x -> %t}}
// expected-note@+2 {{in the pass `build-backward`}}
// expected-error@+1 {{needs explicit `paddings`}}
%y = pd.conv2d_transpose (%t, %w) {padding_algorithm = "SAME"}
%s = pd.sum (%y) : tensor<f32>
pd.fetch (%s) {name = "s"}

// -----

// Indices have no derivative, and ask for none: the sorted values do.
%x = pd.data {name = "x", shape = [3], dtype = f32} : tensor<3xf32>
%v, %i = pd.argsort (%x) : tensor<3xf32>, tensor<3xi64>
%g = pd.gather (%v, %i) : tensor<3xf32>
%s = pd.sum (%g) : tensor<f32>
pd.fetch (%s) {name = "s"}
