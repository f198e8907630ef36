func.func @f(%a: tensor<2x2xf32>, %b: tensor<2x2xf32>, %x: f32) { %0 = linalg.matmul ins(%a, %b : tensor<2x2xf32>, tensor<2x2xf32>) outs(%a : tensor<2x2xf32>) -> tensor<2x2xf32> return }

// -----

func.func @f(%a: tensor<2x2xf32>, %b: tensor<2x2xf32>, %x: f32) { %0 = linalg.fill ins(%x : f32) outs(%a : tensor<2x2xf32>) -> tensor<2x2xf32> return }

// -----

func.func @f(%a: tensor<2x2xf32>, %b: tensor<2x2xf32>, %x: f32) { %0 = linalg.add ins(%a, %b : tensor<2x2xf32>, tensor<2x2xf32>) outs(%a : tensor<2x2xf32>) -> tensor<2x2xf32> return }

// -----

func.func @f(%a: tensor<2x2xf32>, %b: tensor<2x2xf32>, %x: f32) { %0 = linalg.transpose ins(%a : tensor<2x2xf32>) outs(%b : tensor<2x2xf32>) permutation = [1, 0] return }

// -----

func.func @f(%a: tensor<2x2xf32>, %b: tensor<2x2xf32>, %x: f32) { %0 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} outs(%a : tensor<2x2xf32>) { ^bb0(%o: f32): linalg.yield %o : f32 } -> tensor<2x2xf32> return }

// -----

func.func @f(%a: tensor<2x2xf32>, %b: tensor<2x2xf32>, %x: f32) { %0 = linalg.map { math.exp } ins(%a : tensor<2x2xf32>) outs(%b : tensor<2x2xf32>) return }

// -----

func.func @elements(%a: tensor<64xf32>, %b: tensor<64xf32>, %m: memref<64xf32>, %t: tensor<16x32x64xf32>, %u: tensor<16x64xf32>) -> tensor<64xf32> {
  %0 = linalg.map { arith.addf {fastmath = #arith.fastmath<fast>} } ins(%a, %b : tensor<64xf32>, tensor<64xf32>) outs(%b : tensor<64xf32>)
  %1 = linalg.map { arith.negf } ins(%a : tensor<64xf32>) outs(%b : tensor<64xf32>) {tag = 2}
  linalg.map ins(%m : memref<64xf32>) outs(%m : memref<64xf32>) (%x: f32) {
    %y = arith.mulf %x, %x : f32
    linalg.yield %y : f32
  }
  %2 = linalg.reduce { arith.addf } ins(%t : tensor<16x32x64xf32>) outs(%u : tensor<16x64xf32>) dimensions = [1]
  %3:2 = linalg.reduce ins(%t, %t : tensor<16x32x64xf32>, tensor<16x32x64xf32>) outs(%u, %u : tensor<16x64xf32>, tensor<16x64xf32>) dimensions = [1]
    (%p: f32, %q: f32, %i: f32, %j : f32) {
      %s = arith.addf %p, %i : f32
      linalg.yield %s, %j : f32, f32
    }
  return %0 : tensor<64xf32>
}
