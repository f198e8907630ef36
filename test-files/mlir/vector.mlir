#acc = {indexing_maps = [affine_map<(i, j, k) -> (i, k)>, affine_map<(i, j, k) -> (k, j)>, affine_map<(i, j, k) -> (i, j)>], iterator_types = ["parallel", "parallel", "reduction"], kind = #vector.kind<add>}
func.func @v(%a: vector<4x8xf32>, %b: vector<8x4xf32>, %c: vector<4x4xf32>, %m: memref<?x?xf32>, %i: index) -> vector<4x4xf32> {
  %r = vector.contract #acc %a, %b, %c : vector<4x8xf32>, vector<8x4xf32> into vector<4x4xf32>
  %p = arith.constant 0.0 : f32
  %t = vector.transfer_read %m[%i, %i], %p {in_bounds = [true, false], permutation_map = affine_map<(d0, d1) -> (d0, d1)>} : memref<?x?xf32>, vector<4x4xf32>
  %s = vector.shuffle %r, %t [0, 1, 4, 5] : vector<4x4xf32>, vector<4x4xf32>
  %e = vector.extract %s[0, 1] : f32 from vector<4x4xf32>
  %q = vector.broadcast %e : f32 to vector<[4]xf32>
  %d = vector.reduction <add>, %q : vector<[4]xf32> into f32
  return %s : vector<4x4xf32>
}
func.func @tosa(%x: tensor<1x4x4x3xf32>, %w: tensor<8x3x3x3xf32>, %b: tensor<8xf32>) -> tensor<1x4x4x8xf32> {
  %0 = tosa.conv2d %x, %w, %b {dilation = array<i64: 1, 1>, pad = array<i64: 1, 1, 1, 1>, stride = array<i64: 1, 1>} : (tensor<1x4x4x3xf32>, tensor<8x3x3x3xf32>, tensor<8xf32>) -> tensor<1x4x4x8xf32>
  %1 = tosa.clamp %0 {max_fp = 6.0 : f32, max_int = 6 : i64, min_fp = 0.0 : f32, min_int = 0 : i64} : (tensor<1x4x4x8xf32>) -> tensor<1x4x4x8xf32>
  return %1 : tensor<1x4x4x8xf32>
}
