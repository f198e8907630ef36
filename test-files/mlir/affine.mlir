#map0 = affine_map<(d0)[s0] -> (d0 + s0 * 2, d0 mod 8)>
#set0 = affine_set<(d0, d1)[s0, s1] : (d0 + d1 >= 0, -d0 + s0 * 4 - 1 >= 0, d1 - s1 == 0, d0 floordiv 4 - d1 ceildiv 3 >= 0)>
func.func @loops(%m: memref<100x100xf32>, %n: index, %k: index) -> f32 {
  %zero = arith.constant 0.0 : f32
  affine.for %i = 0 to 100 {
    affine.for %j = max affine_map<(d0)[s0] -> (d0, s0 - 3)>(%i)[%n] to min affine_map<(d0)[s0] -> (d0 + 10, s0, 100)>(%i)[%k] step 3 {
      %0 = affine.load %m[%i, symbol(%n) + 1] : memref<100x100xf32>
      affine.store %0, %m[%i + %j * 2 - 1, %j mod 7] : memref<100x100xf32>
      affine.if #set0(%i, %j)[%n, %k] {
        affine.store %zero, %m[0, 0] : memref<100x100xf32>
      } else {
        affine.prefetch %m[%i, %j + 5], read, locality<3>, data : memref<100x100xf32>
      }
    }
  } {unroll = 4 : i32}
  %r:2 = affine.for %i = 0 to 10 iter_args(%a = %zero, %b = %zero) -> (f32, f32) {
    %s = arith.addf %a, %b : f32
    affine.yield %b, %s : f32, f32
  }
  %p = affine.parallel (%i, %j) = (0, %n) to (10, %k) step (2, 3) reduce ("addf") -> (f32) {
    affine.yield %zero : f32
  }
  %q = affine.apply affine_map<(d0, d1)[s0] -> ((d0 * 4 + d1) floordiv 16 + s0 ceildiv 5 - (d0 + d1 * -3) mod 5)>(%n, %k)[%n]
  %min = affine.min #map0(%n)[%k]
  %max = affine.max affine_map<() -> (1, 2, -9223372036854775807)>()
  %v = affine.vector_load %m[%n, 0] : memref<100x100xf32>, vector<8xf32>
  %d:2 = affine.delinearize_index %n into (%k, %n) : index, index
  return %r#1 : f32
}
"u.maps"() {
  a = affine_map<() -> ()>, b = affine_map<(d0) -> ()>, c = affine_map<()[s0] -> (s0)>, d = affine_map<(d0, d1, d2, d3, d4, d5, d6, d7, d8, d9, d10)[s0, s1, s2] -> (d10, s2, d0 + d1 + d2 + d3 + d4)>,
  e = affine_map<(i, j)[n] -> (i * n + j, -i, -(i + j), i - j - n, i * -1)>,
  f = affine_map<(d0) -> (0, -5, d0 * 0 + 3, d0 floordiv -4, (d0 mod 3) * 7)>,
  g = affine_set<() : (1 == 0)>, h = affine_set<(d0) : (d0 - 1 == 0)>, i = affine_set<()[s0] : (s0 >= 0, s0 * -2 + 100 >= 0)>,
  j = affine_map<(d0, d1) -> ((d0 + 1) * 2 floordiv 3 ceildiv 4 mod 5 + d1)>,
  k = [affine_map<(d0) -> (d0)>, [affine_map<(d0, d1) -> (d1)>]], l = {m = affine_map<(d0) -> (d0)>}
} : () -> memref<?x?xf32, affine_map<(d0, d1)[s0, s1, s2] -> (d0 * s1 + s0 + d1 * s2)>, 3>
