// A dialect in IRDL: its operations and types are checked, anything is expected of their effects, and they have no derivative.
// RUN: pir-opt --irdl-file %S/d.irdl %s | FileCheck %s
// RUN: pir-opt --load-dialect %S/d.irdl --print-generic %s | pir-opt --load-dialect %S/d.irdl - | FileCheck %s
// RUN: pir-opt --irdl-file %S/d.irdl --pass=canonicalize,cse,dce %s | FileCheck %s
// RUN: not pir-opt --irdl-file %S/d.irdl --pass=backward %s 2>&1 | FileCheck %s --check-prefix=BACKWARD
// RUN: not pir-run --irdl-file %S/d.irdl %s --input x=[1,2] 2>&1 | FileCheck %s --check-prefix=RUNNING
// RUN: pir-opt --irdl-file %S/d.irdl --show-op d.list | FileCheck %s --check-prefix=SHOW
// RUN: not pir-opt %s 2>&1 | FileCheck %s --check-prefix=WITHOUT

// CHECK: %x = pd.data
// CHECK-NEXT: %y = d.same (%x, %x) : tensor<2xf32>
// CHECK-NEXT: %z = d.same (%x, %x) : tensor<2xf32>
// CHECK-NEXT: d.nothing ()
// CHECK-NEXT: pd.fetch (%y) {name = "y"}
%x = pd.data {name = "x", shape = [2], dtype = f32} : tensor<2xf32>
%y = d.same (%x, %x) : tensor<2xf32>
%z = d.same (%x, %x) : tensor<2xf32>
d.nothing ()
pd.fetch (%y) {name = "y"}
// BACKWARD: error: `d.same`
// RUNNING: error: `d.same` failed: there is no kernel for this operation
// SHOW: d.list
// WITHOUT: error: there is no operation `d.same`
