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
