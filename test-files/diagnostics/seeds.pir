// RUN: pir-opt --verify-diagnostics --pass='backward{seed=x}' %s
// RUN: pir-opt --pass='backward{of=%%y, seed=x}' %s | FileCheck %s
// A seed that is a value must be of the type of each output that it is for.
// expected-note@+2 {{in the pass `stack-locals{seed=[x]}`}}
// expected-error@+1 {{a seed has type `tensor<2xf64>`, but its output has type `tensor<f64>`: the seed}}
%x = pd.data {name = "x", shape = [2], dtype = f64} : tensor<2xf64>
%y = pd.tanh (%x) : tensor<2xf64>
// expected-note@+1 {{the output}}
%s = pd.sum (%y) : tensor<f64>
pd.fetch (%y) {name = "y"}
pd.fetch (%s) {name = "s"}

// CHECK: %y_grad = pd.assign (%x)
// CHECK: pd.fetch ({{.*}}) {name = "x_grad"}
