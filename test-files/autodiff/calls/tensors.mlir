// Functions that only move elements, and those that only call such: their adjoints are of the same dialects.
// RUN: pir-opt --pass=backward --print-mlir %s | FileCheck %s
// RUN: pir-run %s --function f --check-grad --input x=0.4 --input y=0.6 | FileCheck %s --check-prefix=OK

// OK: x {{.*}} ok
// OK: y {{.*}} ok

// CHECK: func.func private @row.adjoint(
// CHECK: func.func private @twice.adjoint(
// CHECK-NOT: pd.
func.func private @row(%t: tensor<2x3xf64>, %i: index) -> tensor<3xf64> {
  %s = tensor.extract_slice %t[%i, 0] [1, 3] [1, 1] : tensor<2x3xf64> to tensor<3xf64>
  return %s : tensor<3xf64>
}
func.func private @both(%t: tensor<2x3xf64>, %i: index, %j: index) -> (tensor<3xf64>, tensor<3xf64>) {
  %a = call @row(%t, %i) : (tensor<2x3xf64>, index) -> tensor<3xf64>
  %b = call @row(%t, %j) : (tensor<2x3xf64>, index) -> tensor<3xf64>
  return %a, %b : tensor<3xf64>, tensor<3xf64>
}
func.func private @sine(%t: tensor<3xf64>) -> tensor<3xf64> {
  %s = math.sin %t : tensor<3xf64>
  return %s : tensor<3xf64>
}
func.func private @twice(%t: tensor<3xf64>) -> tensor<3xf64> {
  %a = call @sine(%t) : (tensor<3xf64>) -> tensor<3xf64>
  %b = call @sine(%a) : (tensor<3xf64>) -> tensor<3xf64>
  return %b : tensor<3xf64>
}
func.func @f(%x: f64, %y: f64) -> f64 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %t = tensor.from_elements %x, %y, %x, %y, %y, %x : tensor<2x3xf64>
  %u:2 = call @both(%t, %c0, %c1) : (tensor<2x3xf64>, index, index) -> (tensor<3xf64>, tensor<3xf64>)
  %p = arith.mulf %u#0, %u#1 : tensor<3xf64>
  %v = call @twice(%p) : (tensor<3xf64>) -> tensor<3xf64>
  %r = tensor.extract %v[%c1] : tensor<3xf64>
  return %r : f64
}
