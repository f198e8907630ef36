// INPUT: 0.3 -0.2
func.func @f(%x: f64, %y: f64) -> f64 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f64
  %w1 = arith.constant dense<[[0.1, -0.4, 0.3], [0.7, 0.2, -0.6]]> : tensor<2x3xf64>
  %w2 = arith.constant dense<[[0.5], [-0.3], [0.8]]> : tensor<3x1xf64>
  %in = tensor.from_elements %x, %y : tensor<1x2xf64>
  %e1 = tensor.empty() : tensor<1x3xf64>
  %z1 = linalg.fill ins(%zero : f64) outs(%e1 : tensor<1x3xf64>) -> tensor<1x3xf64>
  %h = linalg.matmul ins(%in, %w1 : tensor<1x2xf64>, tensor<2x3xf64>) outs(%z1 : tensor<1x3xf64>) -> tensor<1x3xf64>
  %a = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]} ins(%h : tensor<1x3xf64>) outs(%e1 : tensor<1x3xf64>) {
  ^bb0(%i: f64, %o: f64):
    %t = math.tanh %i : f64
    linalg.yield %t : f64
  } -> tensor<1x3xf64>
  %e2 = tensor.empty() : tensor<1x1xf64>
  %z2 = linalg.fill ins(%zero : f64) outs(%e2 : tensor<1x1xf64>) -> tensor<1x1xf64>
  %o = linalg.matmul ins(%a, %w2 : tensor<1x3xf64>, tensor<3x1xf64>) outs(%z2 : tensor<1x1xf64>) -> tensor<1x1xf64>
  %r = tensor.extract %o[%c0, %c0] : tensor<1x1xf64>
  return %r : f64
}
