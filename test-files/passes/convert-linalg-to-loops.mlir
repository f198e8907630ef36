// Operations of linalg become loops over elements, of buffers and of tensors.
// RUN: pir-opt --pass=convert-linalg-to-loops %s | FileCheck %s
// RUN: pir-run --function product %s | FileCheck %s --check-prefix=VALUE

// VALUE: out:0 = tensor<2x2xf64> {{\[\[}}7, 10], [15, 22]]
// CHECK-LABEL: func.func @product
// CHECK-NOT: linalg.
// CHECK: scf.for
// CHECK: tensor.insert
func.func @product() -> tensor<2x2xf64> {
  %a = arith.constant dense<[[1.0, 2.0], [3.0, 4.0]]> : tensor<2x2xf64>
  %zero = arith.constant 0.0 : f64
  %e = tensor.empty() : tensor<2x2xf64>
  %z = linalg.fill ins(%zero : f64) outs(%e : tensor<2x2xf64>) -> tensor<2x2xf64>
  %r = linalg.matmul ins(%a, %a : tensor<2x2xf64>, tensor<2x2xf64>) outs(%z : tensor<2x2xf64>) -> tensor<2x2xf64>
  return %r : tensor<2x2xf64>
}

// How far loops go is read off the buffers; what is not read is not loaded.
// CHECK-LABEL: func.func @rows
// CHECK-NOT: linalg.
// CHECK: memref.dim
// CHECK-NOT: memref.load (%out
// CHECK: memref.store
func.func @rows(%in: memref<?x4xf32>, %out: memref<?xf32>) {
  linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>], iterator_types = ["parallel", "reduction"]}
      ins(%in : memref<?x4xf32>) outs(%out : memref<?xf32>) {
  ^bb0(%a: f32, %o: f32):
    %j = linalg.index 1 : index
    linalg.yield %a : f32
  }
  return
}

