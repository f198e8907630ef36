// RUN: not pir-opt --pass='backward{of=a}' %s 2>&1 | FileCheck %s --check-prefix=ROOT
// RUN: not pir-opt --pass='backward{of=b}' %s 2>&1 | FileCheck %s --check-prefix=MOST
// RUN: not pir-opt --pass='jvp{of=c}' %s 2>&1 | FileCheck %s --check-prefix=TANGENTS

// Derivatives that depend on which process this is, or that no collective gives.
%x = pd.data {name = "x", shape = [4], dtype = f32} : tensor<4xf32>
%a = pd.broadcast (%x) : tensor<4xf32>
pd.fetch (%a) {name = "a"}
%b = pd.all_reduce (%x) {reduce_type = 1} : tensor<4xf32>
pd.fetch (%b) {name = "b"}
%c = pd.mp_allreduce_sum (%x) : tensor<4xf32>
pd.fetch (%c) {name = "c"}

// ROOT: it depends on the number of the process: give the option `rank`
// MOST: only sums over processes have a derivative
// TANGENTS: `pd.mp_allreduce_sum` has no tangents: its derivative in reverse mode is not the transpose of what it computes
