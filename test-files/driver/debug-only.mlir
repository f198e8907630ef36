// `--debug-only` says what one pass did, by either of its names.
// RUN: pir-opt -licm -cse --debug-only=loop-invariant-code-motion %s -o /dev/null 2>&1 | FileCheck %s
// RUN: pir-opt -licm -cse --debug-only=cse %s -o /dev/null 2>&1 | FileCheck %s --check-prefix=NOTHING
// RUN: not pir-opt -cse --debug-only=cce %s 2>&1 | FileCheck %s --check-prefix=UNKNOWN

// CHECK: [licm] {{[0-9]+}} {{.*}}
// CHECK: [licm] --- before licm
// CHECK: [licm] -    %q = arith.mulf
// CHECK-NOT: [cse]
// NOTHING: [cse] changed nothing
// UNKNOWN: --debug-only: there is no pass `cce`; did you mean `cse`?
func.func @f(%x: f64, %n: index) -> f64 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %y = scf.for %i = %c0 to %n step %c1 iter_args(%a = %x) -> (f64) {
    %q = arith.mulf %x, %x : f64
    %b = arith.addf %a, %q : f64
    scf.yield %b : f64
  }
  return %y : f64
}
