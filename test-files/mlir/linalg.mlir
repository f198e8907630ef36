#id = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>
func.func @g(%a: tensor<?x?xf32>, %b: tensor<?xf32>, %c: f32, %i: index) -> tensor<?xf32> {
  %0 = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"], doc = "sum", library_call = "f"} ins(%a : tensor<?x?xf32>) outs(%b : tensor<?xf32>) attrs = {tag = #linalg.iterator_type<reduction>} {
  ^bb0(%x: f32, %y: f32):
    %k = linalg.index 1 : index
    %s = arith.addf %x, %y fastmath<fast> : f32
    linalg.yield %s : f32
  } -> tensor<?xf32>
  %1 = linalg.fill ins(%c : f32) outs(%0 : tensor<?xf32>) -> tensor<?xf32>
  %2 = linalg.map { arith.mulf } ins(%1, %0 : tensor<?xf32>, tensor<?xf32>) outs(%b : tensor<?xf32>)
  %3 = tensor.extract_slice %2[%i] [4] [1] : tensor<?xf32> to tensor<4xf32>
  %4 = tensor.insert_slice %3 into %2[0] [4] [%i] : tensor<4xf32> into tensor<?xf32>
  %5 = tensor.pad %4 low[1] high[%i] {
  ^bb0(%j: index):
    tensor.yield %c : f32
  } : tensor<?xf32> to tensor<?xf32>
  %6 = tensor.generate %i {
  ^bb0(%j: index):
    tensor.yield %c : f32
  } : tensor<?xf32>
  %7 = tensor.empty(%i) : tensor<?x16xf32>
  %8 = tensor.collapse_shape %7 [[0, 1]] : tensor<?x16xf32> into tensor<?xf32>
  %9 = tensor.expand_shape %8 [[0, 1]] output_shape [%i, 16] : tensor<?xf32> into tensor<?x16xf32>
  %10 = tensor.from_elements %c, %c : tensor<2xf32>
  return %5 : tensor<?xf32>
}
func.func @conv(%i: tensor<1x8x8x3xf32>, %k: tensor<3x3x3x4xf32>, %o: tensor<1x6x6x4xf32>) -> tensor<1x6x6x4xf32> {
  %0 = linalg.conv_2d_nhwc_hwcf {dilations = dense<1> : tensor<2xi64>, strides = dense<[1, 1]> : vector<2xi64>} ins(%i, %k : tensor<1x8x8x3xf32>, tensor<3x3x3x4xf32>) outs(%o : tensor<1x6x6x4xf32>) -> tensor<1x6x6x4xf32>
  return %0 : tensor<1x6x6x4xf32>
}
func.func @named(%a: memref<4x8xi8>, %b: memref<8x4xi8>, %c: memref<4x4xi32>) {
  linalg.matmul {cast = #linalg.type_fn<cast_unsigned>} ins(%a, %b : memref<4x8xi8>, memref<8x4xi8>) outs(%c : memref<4x4xi32>)
  linalg.transpose ins(%c : memref<4x4xi32>) outs(%c : memref<4x4xi32>) permutation = [1, 0]
  return
}
