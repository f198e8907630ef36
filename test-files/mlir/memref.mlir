memref.global "private" constant @w : memref<2x2xf32> = dense<[[1.0, 2.0], [3.0, -4.5e-7]]> {alignment = 64}
memref.global @u : memref<4xi8> = uninitialized
memref.global @e : memref<3xf32>
memref.global "public" @r : memref<2xi64> = dense_resource<__elided__>
func.func @m(%n: index, %p: memref<?x?xf32, strided<[?, ?], offset: ?>, #gpu.address_space<workgroup>>) -> memref<*xf32> {
  %0 = memref.alloc(%n) {alignment = 16 : i64} : memref<?x4xf32>
  %1 = memref.alloca()[%n, %n] : memref<2x2xf32, affine_map<(d0, d1)[s0, s1] -> (d0 * s0 + d1 + s1)>>
  %2 = memref.subview %0[0, 1] [%n, 2] [1, 1] : memref<?x4xf32> to memref<?x2xf32, strided<[4, 1], offset: 1>>
  %3 = memref.cast %0 : memref<?x4xf32> to memref<*xf32>
  %4 = memref.reinterpret_cast %0 to offset: [%n], sizes: [2, %n], strides: [%n, 1] : memref<?x4xf32> to memref<2x?xf32, strided<[?, 1], offset: ?>>
  %5 = memref.get_global @w : memref<2x2xf32>
  %6 = memref.transpose %5 (i, j) -> (j, i) : memref<2x2xf32> to memref<2x2xf32, strided<[1, 2]>>
  %7 = memref.load %5[%n, %n] {nontemporal = true} : memref<2x2xf32>
  %8 = memref.generic_atomic_rmw %5[%n, %n] : memref<2x2xf32> {
  ^bb0(%x: f32):
    memref.atomic_yield %x : f32
  }

  %10 = memref.alloc() : memref<vector<4xf32>>
  memref.assume_alignment %5, 64 : memref<2x2xf32>
  return %3 : memref<*xf32>
}
