// What MLIR verifies of its operations beyond what their rows declare.
// RUN: pir-opt --split-input-file --verify-diagnostics %s
func.func @f(%i: index) -> index {
  // expected-error @+1 {{its map takes 2 operands, found 1}}
  %k = affine.apply affine_map<(d0, d1) -> (d0 + d1)>(%i)
  return %k : index
}
// -----

func.func @f(%m: memref<4x4xf32>, %i: index) -> f32 {
  // expected-error @+1 {{the buffer has 2 dimensions, found 1 index}}
  %k = affine.load %m[%i] : memref<4x4xf32>
  return %k : f32
}
// -----

func.func @f(%n: index) {
  affine.for %i = 0 to 10 {
    %s = arith.addi %i, %n : index
    // expected-error @+1 {{%s cannot be a symbol}}
    affine.for %j = 0 to %s {
    }
  }
  return
}
// -----

func.func @f(%n: index) {
  affine.for %i = 0 to 10 {
    %s = affine.apply affine_map<(d0)[s0] -> (d0 + s0)>(%i)[%n]
    affine.for %j = 0 to affine_map<(d0) -> (d0)>(%s) {
    }
  }
  return
}
// -----

func.func @f(%n: index) -> f32 {
  %c = arith.constant 0.0 : f32
  // expected-error @+1 {{its region must yield 1 value, found 0}}
  %0 = affine.for %i = 0 to 10 iter_args(%a = %c) -> (f32) {
  }
  return %0 : f32
}
// -----

// expected-error @+1 {{one of the factors of a product must be a constant or a symbol}}
#map = affine_map<(d0, d1) -> (d0 * d1)>
func.func @f() {
  return
}
// -----

func.func @f(%n: index, %m: index) {
  affine.if affine_set<(d0)[s0] : (d0 <= s0, s0 - 1 >= d0)>(%n)[%m] {
  }
  return
}
// -----

func.func @f(%v: vector<4xf32>, %w: vector<8xf32>) -> vector<4xf32> {
  // expected-error @+1 {{its mask must select from 12 places, found 20}}
  %0 = vector.shuffle %v, %w [0, 1, 2, 20] : vector<4xf32>, vector<8xf32>
  return %0 : vector<4xf32>
}
// -----

func.func @f(%v: vector<4xf32>) -> f32 {
  // expected-error @+1 {{position 0 must be below 4, found 4}}
  %0 = vector.extract %v[4] : f32 from vector<4xf32>
  return %0 : f32
}
// -----

func.func @f(%m: memref<8x8xf32>, %i: index, %p: f32) -> vector<4xf32> {
  // expected-error @+1 {{it needs 2 indices, found 1}}
  %0 = vector.transfer_read %m[%i], %p {permutation_map = affine_map<(d0, d1) -> (d1)>} : memref<8x8xf32>, vector<4xf32>
  return %0 : vector<4xf32>
}
// -----

func.func @f(%a: tensor<4x8xf32>, %b: tensor<4x8xf32>, %c: tensor<4x8xf32>) -> tensor<4x8xf32> {
  // expected-error @+1 {{operand 1 has an extent of 4 where another one has 8}}
  %0 = linalg.matmul ins(%a, %b : tensor<4x8xf32>, tensor<4x8xf32>) outs(%c : tensor<4x8xf32>) -> tensor<4x8xf32>
  return %0 : tensor<4x8xf32>
}
// -----

func.func @f(%a: memref<4x8xf32>) {
  // expected-error @+1 {{its block must yield 1 value, found 0}}
  linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]} outs(%a : memref<4x8xf32>) {
  ^bb0(%x: f32):
    linalg.yield
  }
  return
}
// -----

func.func @f(%a: memref<4x8xf32>) -> memref<2x2xf32> {
  // expected-error @+1 {{the view has the layout `strided<[8, 1], offset: 0>`}}
  %0 = memref.subview %a[0, 0] [2, 2] [1, 1] : memref<4x8xf32> to memref<2x2xf32>
  return %0 : memref<2x2xf32>
}
// -----

func.func @f(%a: memref<4x1x8xf32>, %i: index) -> memref<2x8xf32, strided<[8, 1], offset: ?>> {
  %0 = memref.subview %a[%i, 0, 0] [2, 1, 8] [1, 1, 1] : memref<4x1x8xf32> to memref<2x8xf32, strided<[8, 1], offset: ?>>
  return %0 : memref<2x8xf32, strided<[8, 1], offset: ?>>
}
// -----

func.func @f(%a: memref<4x8xf32>, %b: memref<4x4xf32>) {
  // expected-error @+1 {{both buffers must have the same shape and elements}}
  memref.copy %a, %b : memref<4x8xf32> to memref<4x4xf32>
  return
}
// -----

func.func @f(%n: index) -> memref<?x?xf32> {
  // expected-error @+1 {{the result has 2 unknown extents, found 1 size}}
  %0 = memref.alloc(%n) : memref<?x?xf32>
  return %0 : memref<?x?xf32>
}
// -----

func.func @f(%t: tensor<4xf32>) -> tensor<2x3xf32> {
  // expected-error @+1 {{dimension 0 has 4 places, and its group 6}}
  %0 = tensor.expand_shape %t [[0, 1]] output_shape [2, 3] : tensor<4xf32> into tensor<2x3xf32>
  return %0 : tensor<2x3xf32>
}
// -----

func.func @f(%t: tensor<4x?xf32>, %i: index) -> tensor<3x?xf32> {
  // expected-error @+1 {{a slice of the sizes [2, ?] cannot be `tensor<3x?xf32>`}}
  %0 = tensor.extract_slice %t[0, 0] [2, %i] [1, 1] : tensor<4x?xf32> to tensor<3x?xf32>
  return %0 : tensor<3x?xf32>
}
// -----

func.func @f(%n: index) {
  %c = arith.constant 0 : index
  // expected-error @+1 {{a step must be positive}}
  scf.parallel (%i) = (%c) to (%n) step (%c) {
    scf.reduce
  }
  return
}
// -----

func.func @f() -> complex<f64> {
  // expected-error @+1 {{its numbers must have the type of the parts of the result}}
  %0 = complex.constant [1.0 : f32, 2.0 : f32] : complex<f64>
  return %0 : complex<f64>
}

// -----

func.func @f(%n: index) {
  affine.for %i = 0 to %n {
    // expected-error @+1 {{`func.return` is in `affine.for`, not in a function}}
    func.return
  }
  return
}

// -----

func.func @f() -> index {
  // expected-error @+1 {{it must be in an operation of `linalg`}}
  %0 = linalg.index 0 : index
  return %0 : index
}

// -----

func.func @f(%t: tensor<8x16xf32>, %o: tensor<2x2x8x4xf32>) -> tensor<2x2x8x4xf32> {
  // expected-error @+1 {{`inner_dims_pos` must have some of 2 dimensions, each once}}
  %0 = tensor.pack %t inner_dims_pos = [1, 1] inner_tiles = [8, 4] into %o : tensor<8x16xf32> -> tensor<2x2x8x4xf32>
  return %0 : tensor<2x2x8x4xf32>
}
