// RUN: pir-run %s --function f --input n=3 --input x=7.0 | FileCheck %s
// RUN: pir-opt --pass=O2 %s | pir-run - --function f --input n=3 --input x=7.0 | FileCheck %s
// RUN: not pir-run %s --function f --input n=1 --input x=7.0 2>&1 | FileCheck %s --check-prefix=OUTSIDE
// RUN: pir-run %s --function shapes --input t='[[1, 2, 3], [4, 5, 6]]' | FileCheck %s --check-prefix=SHAPES

// CHECK: out:0 = tensor<3x2xf64> {{\[\[}}0, 7], [7, 14], [14, 21]]
// CHECK-NEXT: out:1 = tensor<f64> 14
// CHECK-NEXT: out:2 = tensor<2xf64> [7, 14]
// CHECK-NEXT: out:3 = tensor<4x2xf64> {{\[\[}}7, 7], [7, 7], [7, 14], [7, 7]]
// OUTSIDE: :[[#@LINE+12]]:{{.*}}`tensor.insert` failed: index 1 is out of range for dimension 0 of extent 1
func.func @f(%x: f64, %n: index) -> (tensor<?x2xf64>, f64, tensor<2xf64>, tensor<4x2xf64>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %t = tensor.generate %n {
  ^bb0(%i: index, %j: index):
    %a = arith.addi %i, %j : index
    %b = arith.index_cast %a : index to i64
    %c = arith.sitofp %b : i64 to f64
    %d = arith.mulf %c, %x : f64
    tensor.yield %d : f64
  } : tensor<?x2xf64>
  %u = tensor.insert %x into %t[%c1, %c0] : tensor<?x2xf64>
  %e = tensor.extract %u[%c1, %c1] : tensor<?x2xf64>
  %s = tensor.extract_slice %u[1, 0] [1, 2] [1, 1] : tensor<?x2xf64> to tensor<2xf64>
  %sp = tensor.splat %x : tensor<4x2xf64>
  %g = tensor.from_elements %x, %e : tensor<2xf64>
  %q = tensor.insert_slice %g into %sp[2, 0] [1, 2] [1, 1] : tensor<2xf64> into tensor<4x2xf64>
  return %u, %e, %s, %q : tensor<?x2xf64>, f64, tensor<2xf64>, tensor<4x2xf64>
}

// SHAPES: out:0 = tensor<6xf64> [1, 2, 3, 4, 5, 6]
// SHAPES-NEXT: out:1 = tensor<3x2xf64> {{\[\[}}1, 2], [3, 4], [5, 6]]
// SHAPES-NEXT: out:2 = tensor<3x2xf64> {{\[\[}}1, 2], [3, 4], [5, 6]]
// SHAPES-NEXT: out:3 = tensor<i64> 2
// SHAPES-NEXT: out:4 = tensor<i64> 3
func.func @shapes(%t: tensor<2x?xf64>) -> (tensor<?xf64>, tensor<3x2xf64>, tensor<?x?xf64>, index, index) {
  %flat = tensor.collapse_shape %t [[0, 1]] : tensor<2x?xf64> into tensor<?xf64>
  %known = tensor.cast %flat : tensor<?xf64> to tensor<6xf64>
  %pairs = tensor.expand_shape %known [[0, 1]] output_shape [3, 2] : tensor<6xf64> into tensor<3x2xf64>
  %shape = arith.constant dense<[3, 2]> : tensor<2xindex>
  %again = tensor.reshape %t(%shape) : (tensor<2x?xf64>, tensor<2xindex>) -> tensor<?x?xf64>
  %rank = tensor.rank %again : tensor<?x?xf64>
  %c1 = arith.constant 1 : index
  %columns = tensor.dim %t, %c1 : tensor<2x?xf64>
  %new = tensor.empty(%columns) : tensor<4x?xf64>
  %extent = tensor.dim %new, %c1 : tensor<4x?xf64>
  return %flat, %pairs, %again, %rank, %extent : tensor<?xf64>, tensor<3x2xf64>, tensor<?x?xf64>, index, index
}
