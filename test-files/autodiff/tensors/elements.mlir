// Elements of tensors and their parts: cotangents are changed in few elements, what a region makes becomes a loop first.
// RUN: pir-opt --pass=backward --print-mlir %s | FileCheck %s
// RUN: pir-opt --pass=backward %s | pir-run - --function g_grad --input t=[0.3,0.5,0.9] --input x=0.7 --input n=3 | FileCheck %s --check-prefix=G
// RUN: pir-run %s --function g --input t=[0.3,0.500001,0.9] --input x=0.7 --input n=3 | FileCheck %s --check-prefix=ABOVE
// RUN: pir-run %s --function g --input t=[0.3,0.499999,0.9] --input x=0.7 --input n=3 | FileCheck %s --check-prefix=BELOW
// RUN: pir-opt --pass=backward %s | pir-run - --function h_grad --input 't=[[1,2],[3,4]]' | FileCheck %s --check-prefix=H
// RUN: pir-opt --pass=backward %s | pir-run - --function m_grad --input x=2 --input y=3 --input n=3 | FileCheck %s --check-prefix=M

// (1.3007473731271253 - 1.3007443733279) / 2e-6 = 1.4998996
// G: out:0 = tensor<f64> 1.300745873227232
// G-NEXT: out:1 = tensor<3xf64> [1.5616253370585835, 1.4998996526992954, 1.2901803113007633]
// ABOVE: out:0 = tensor<f64> 1.30074737312712
// BELOW: out:0 = tensor<f64> 1.30074437332

// CHECK: func.func @g_grad(%t: tensor<?xf64>, %x: f64, %n: index) -> (f64, tensor<?xf64>, f64)
// CHECK: scf.while ({{.*}}%[[SUM:.*]] = %t_grad
// CHECK: tensor.extract %[[T:t_grad[_0-9]*]][%
// CHECK: tensor.insert %{{.*}} into %[[T]][%
func.func @g(%t: tensor<?xf64>, %x: f64, %n: index) -> f64 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f64
  %d = tensor.dim %t, %c0 : tensor<?xf64>
  %s = scf.for %i = %c0 to %d step %c1 iter_args(%a = %zero) -> (f64) {
    %v = tensor.extract %t[%i] : tensor<?xf64>
    %w = arith.mulf %v, %x : f64
    %y = math.sin %w : f64
    %b = arith.addf %a, %y : f64
    scf.yield %b : f64
  }
  %u = tensor.splat %s[%n] : tensor<?xf64>
  %w = arith.mulf %u, %u : tensor<?xf64>
  %e = tensor.extract %w[%c1] : tensor<?xf64>
  return %e : f64
}

// y = t * t in another shape, and the second row again: 2 t, and twice that in the second row.
// H: out:0 = tensor<4xf64> [1, 4, 9, 16]
// H-NEXT: out:1 = tensor<2xf64> [9, 16]
// H-NEXT: out:2 = tensor<2x2xf64> {{\[\[}}2, 4], [12, 16]]
func.func @h(%t: tensor<2x2xf64>) -> (tensor<4xf64>, tensor<2xf64>) {
  %u = tensor.collapse_shape %t [[0, 1]] : tensor<2x2xf64> into tensor<4xf64>
  %y = arith.mulf %u, %u : tensor<4xf64>
  %v = tensor.expand_shape %y [[0, 1]] output_shape [2, 2] : tensor<4xf64> into tensor<2x2xf64>
  %r = tensor.extract_slice %v[1, 0] [1, 2] [1, 1] : tensor<2x2xf64> to tensor<2xf64>
  return %y, %r : tensor<4xf64>, tensor<2xf64>
}

// x * 0 + x * 1 + x * 2, of which the element 1 is y instead, times x.
// CHECK: func.func @m_grad
// CHECK-NOT: tensor.generate
// M: out:0 = tensor<f64> 14
// M-NEXT: out:1 = tensor<f64> 11
// M-NEXT: out:2 = tensor<f64> 2
func.func @m(%x: f64, %y: f64, %n: index) -> f64 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f64
  %g = tensor.generate %n {
  ^bb0(%i: index):
    %k = arith.index_cast %i : index to i64
    %w = arith.sitofp %k : i64 to f64
    %v = arith.mulf %x, %w : f64
    tensor.yield %v : f64
  } : tensor<?xf64>
  %h = tensor.insert %y into %g[%c1] : tensor<?xf64>
  %s = scf.for %i = %c0 to %n step %c1 iter_args(%a = %zero) -> (f64) {
    %v = tensor.extract %h[%i] : tensor<?xf64>
    %b = arith.addf %a, %v : f64
    scf.yield %b : f64
  }
  %r = arith.mulf %s, %x : f64
  return %r : f64
}
