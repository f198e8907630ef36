// RUN: not pir-run --check-grad %s --input n=2 --input x=1.5 2>&1 | FileCheck %s --check-prefix=ORDER
// RUN: pir-opt --pass=backward{wrt=[%x]} %s | pir-run - --input n=1 --input x=1 | FileCheck %s
// The derivative of the n-th polygamma function is the next one: for n = 1 at 1, it is -2 zeta(3). In the order, it has none.
func.func public @main(%n: tensor<f64>, %x: tensor<f64>) -> tensor<f64> {
  %0 = chlo.polygamma %n, %x : tensor<f64>, tensor<f64> -> tensor<f64>
  return %0 : tensor<f64>
}

// CHECK: out:1 = tensor<f64> -2.4041138063191
// ORDER: error: cannot differentiate `chlo.polygamma`: there is no rule for its operand `n`
