// RUN: pir-opt --pass=O2 --print-pipeline %s | FileCheck %s --check-prefix=O2
// RUN: pir-opt --pass="training{of=loss}" --print-pipeline %s | FileCheck %s --check-prefix=TRAINING
// RUN: pir-opt --pass=training %s | FileCheck %s
// RUN: pir-opt --pass=training,inference %s | FileCheck %s --check-prefix=INFERENCE

// O2: canonicalize,sccp,licm,cse,sink,canonicalize,dce
// TRAINING: canonicalize,sccp,licm{branches=false},cse,canonicalize,dce,fuse-attention,backward{of=[loss]},canonicalize,remat{recompute=cheap},licm,cse,batch-weight-grads,sink-stacks,canonicalize,dce

%x = pd.data {name = "x", shape = [4], dtype = f64} : tensor<4xf64>
%n = pd.data {name = "n", shape = [1], dtype = i64} : tensor<1xi64>
%zero = pd.full {shape = [1], value = 0, dtype = i64} : tensor<1xi64>
%i_end, %y, %x_end = pd.while (%zero, %x, %x) cond (%i: tensor<1xi64>, %a: tensor<4xf64>, %inv: tensor<4xf64>) {
  %go = pd.less_than (%i, %n) : tensor<1xi1>
  cf.cond_yield (%go, %i, %a, %inv)
} body (%i_b: tensor<1xi64>, %a_b: tensor<4xf64>, %inv_b: tensor<4xf64>) {
  %e = pd.exp (%inv_b) : tensor<4xf64>
  %b = pd.multiply (%a_b, %e) : tensor<4xf64>
  %i_next = pd.increment (%i_b) {value = 1.0} : tensor<1xi64>
  cf.yield (%i_next, %b, %inv_b)
} : tensor<1xi64>, tensor<4xf64>, tensor<4xf64>
%loss = pd.sum (%y) : tensor<f64>
pd.fetch (%loss) {name = "loss"}

// The exponential is neither computed nor differentiated in the loop.
// CHECK:     %e = pd.exp (%x)
// CHECK:     pd.while
// CHECK-NOT: pd.exp
// CHECK:     pd.while_grad
// CHECK:     pd.fetch (%x_grad) {name = "x_grad"}

// INFERENCE:     %e = pd.exp (%x)
// INFERENCE:     pd.while
// INFERENCE-NOT: stack
// INFERENCE-NOT: grad
