// RUN: not pir-opt --pass=stack-locals,build-backward,build-backward %s 2>&1 | FileCheck %s
// RUN: pir-opt --pass=stack-locals,build-backward,stack-locals,build-backward %s | FileCheck %s --check-prefix=TWICE
// What was recorded for one derivative is popped by it, and is not there for another one.
%c = pd.data {name = "c", shape = [], dtype = i1} : tensor<i1>
%x = pd.data {name = "x", shape = [2], dtype = f64} : tensor<2xf64>
// CHECK: error: the local values of this branch were not recorded
%y = pd.if (%c) {
  %t = pd.tanh (%x)
  %s = pd.sin (%t)
  cf.yield (%s)
} else {
  cf.yield (%x)
}
pd.fetch (%y) {name = "y"}
// TWICE: name = "x_grad_2"
