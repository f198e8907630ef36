// A gradient that is a loop is not turned around for forward mode, and not left out either.
// RUN: not pir-opt --pass=jvp %s 2>&1 | FileCheck %s

// CHECK: 6:8: error: there is no tangent of `tensor.splat`: its gradient contains loops or branches
func.func @f(%x: f64, %n: index) -> f64 {
  %t = tensor.splat %x : tensor<4xf64>
  %e = tensor.extract %t[%n] : tensor<4xf64>
  return %e : f64
}
