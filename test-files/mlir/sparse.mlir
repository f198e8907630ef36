#CSR = #sparse_tensor.encoding<{map = (d0, d1) -> (d0 : dense, d1 : compressed)}>
#BSR = #sparse_tensor.encoding<{map = [s0](d0, d1) -> (d0 floordiv 2 : dense, d1 floordiv 3 : compressed, d0 mod 2 : dense, d1 mod 3 : dense), posWidth = 32, crdWidth = 16, explicitVal = 1 : i32, implicitVal = 0 : i32}>
#COO = #sparse_tensor.encoding<{map = (i, j) -> (i : compressed(nonunique, nonordered), j : singleton(soa))}>
#Slice = #sparse_tensor.encoding<{map = (d0 : #sparse_tensor<slice(1, ?, 2)>, d1) -> (d0 : dense, d1 : structured[2, 4])}>
func.func @s(%a: tensor<8x8xf64, #CSR>, %b: tensor<4x6xi32, #BSR>, %c: tensor<?x?xf32, #COO>, %d: tensor<8x8xbf16, #Slice>) -> memref<?xf64> {
  %v = sparse_tensor.values %a : tensor<8x8xf64, #CSR> to memref<?xf64>
  %p = sparse_tensor.positions %a {level = 1 : index} : tensor<8x8xf64, #CSR> to memref<?xindex>
  %e = sparse_tensor.convert %a : tensor<8x8xf64, #CSR> to tensor<8x8xf64>
  %f = arith.constant 1.0 : f64
  return %v : memref<?xf64>
}
"u.specifier"() : () -> !sparse_tensor.storage_specifier<#CSR>
"u.spf"() {s = sparse<0, 1.5> : tensor<4xf32>, u = sparse<[[0, 1]], [(1.0, 2.0)]> : tensor<2x2xcomplex<f32>>, v = sparse<[[0, 0]], 1> : tensor<1x1xi8>} : () -> ()
