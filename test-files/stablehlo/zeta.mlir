// RUN: pir-opt --pass=backward{wrt=[%q]} %s | pir-run - --input x=2 --input q=1 | FileCheck %s
// RUN: pir-opt --pass=backward{wrt=[%q]},backward{of=[%q_grad],wrt=[%q]} %s | pir-run - --input x=2 --input q=1 | FileCheck %s --check-prefix=SECOND
// RUN: not pir-opt --pass=backward{wrt=[%x]} %s 2>&1 | FileCheck %s --check-prefix=EXPONENT
// The derivative of the zeta function is -x zeta(x + 1, q) in q: -2 zeta(3); the second one is 6 zeta(4). In x, it has none.
func.func public @main(%x: tensor<f64>, %q: tensor<f64>) -> tensor<f64> {
  %0 = chlo.zeta %x, %q : tensor<f64>, tensor<f64> -> tensor<f64>
  return %0 : tensor<f64>
}

// CHECK: out:1 = tensor<f64> -2.40411380631918
// SECOND: out:2 = tensor<f64> 6.49393940226682
// EXPONENT: error: cannot differentiate `chlo.zeta`: there is no rule for its operand `x`
