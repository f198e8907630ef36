// RUN: not pir-opt --pass='licm,debug-fail,func.func(cse)' --emit-reproducer=%t %s 2>&1 | FileCheck --check-prefix=SAID %s
// RUN: FileCheck --input-file=%t %s
// RUN: not pir-opt --run-reproducer %t 2>&1 | FileCheck --check-prefix=AGAIN %s
// RUN: pir-opt --pass='func.func(cse)' --emit-reproducer=%t.good %s -o %t.once
// RUN: pir-opt --run-reproducer %t.good -o %t.again
// RUN: FileCheck --check-prefix=GOOD --input-file=%t.good %s
// RUN: pir-opt --run-reproducer --print-pipeline %t.good | FileCheck --check-prefix=PIPELINE %s
// The file of a failure holds the pass that failed, and the program as the passes before it left it.

// SAID: error: this pass always fails
// SAID: note: the program before `debug-fail` is in
// CHECK: // configuration: --pass-pipeline='debug-fail'
// AGAIN: error: this pass always fails
// AGAIN-NOT: licm
// GOOD: // configuration: --pass-pipeline='func.func(cse)'
// PIPELINE: {{^}}func.func(cse){{$}}

// CHECK: func.func @f
// CHECK-NEXT: pd.full
// CHECK-NEXT: pd.while
func.func @f (%x: tensor<1xi64>) -> tensor<1xi64> {
  %y = pd.while (%x) cond (%a: tensor<1xi64>) {
    %n = pd.full {shape = [1], value = 3, dtype = i64} : tensor<1xi64>
    %go = pd.less_than (%a, %n) : tensor<1xi1>
    cf.cond_yield (%go, %a)
  } body (%b: tensor<1xi64>) {
    %c = pd.add (%b, %b) : tensor<1xi64>
    cf.yield (%c)
  } : tensor<1xi64>
  func.return (%y)
}
