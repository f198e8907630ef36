// A program that is for two devices is not run on three.
//
// RUN: not pir-run --dataflow=3 %S/../counts/two_devices.pir 2>&1 | FileCheck %s
// RUN: pir-run --dataflow=2 %S/../counts/two_devices.pir | FileCheck --check-prefix=TWO %s
// RUN: pir-run --dataflow=3 %S/../counts/while.pir | FileCheck --check-prefix=SPLIT %s
// RUN: not pir-run --dataflow=0 %S/../counts/while.pir 2>&1 | FileCheck --check-prefix=NONE %s
// RUN: not pir-run --trace %t %S/../counts/while.pir 2>&1 | FileCheck --check-prefix=NEEDS %s
//
// CHECK: the program has graphs for 2 devices, not 3
// CHECK: use `--dataflow` without a number
// TWO: y = tensor<i64> 9
// SPLIT: x = tensor<i64> 3
// NONE: invalid value '0'
// NEEDS: --dataflow
