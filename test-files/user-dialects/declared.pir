// An operation without `computes` is optimized by what its row declares, and refused by its name where what it computes is needed.
// RUN: pir-opt --load-dialect %S/inputs/my.yaml --pass=cse,dce %s | FileCheck %s
// RUN: not pir-run --load-dialect %S/inputs/my.yaml %s --input x=1 2>&1 | FileCheck %s --check-prefix=RUNNING
// RUN: not pir-opt --load-dialect %S/inputs/my.yaml --pass=backward %s 2>&1 | FileCheck %s --check-prefix=BACKWARD
%x = pd.data {name = "x", shape = [3], dtype = f64} : tensor<3xf64>
// CHECK: %b, %m = my.opaque (%x) : tensor<3xf64>, tensor<3xi1>
%b, %m = my.opaque (%x)
// CHECK-NEXT: pd.fetch (%b) {name = "b"}
%c, %n = my.opaque (%x)
%u, %v = my.opaque (%x) {mode = "slow"}
pd.fetch (%b) {name = "b"}
pd.fetch (%c) {name = "c"}
// RUNNING: error: `my.opaque` failed: there is no kernel for this operation
// RUNNING-NEXT: help: its row has no `computes`
// BACKWARD: error: `my.opaque` has no derivative
// BACKWARD: note: its row declares neither `vjp` nor `computes`
