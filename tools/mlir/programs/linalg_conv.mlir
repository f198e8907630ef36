// UNTIMED: bufferization copies tensors of the adjoint, which takes over a hundred times as long
// INPUT: 0.7 -0.3
func.func @f(%x: f64, %y: f64) -> f64 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f64
  %i0 = tensor.empty() : tensor<1x7x6x2xf64>
  %img = linalg.generic {indexing_maps = [affine_map<(n, h, w, c) -> (n, h, w, c)>], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} outs(%i0 : tensor<1x7x6x2xf64>) {
  ^bb0(%out: f64):
    %h = linalg.index 1 : index
    %w = linalg.index 2 : index
    %c = linalg.index 3 : index
    %p = arith.muli %h, %w : index
    %q = arith.addi %p, %c : index
    %k = arith.index_cast %q : index to i64
    %g = arith.sitofp %k : i64 to f64
    %v = arith.mulf %g, %x : f64
    %s = math.cos %v : f64
    linalg.yield %s : f64
  } -> tensor<1x7x6x2xf64>
  %ker = tensor.generate {
  ^bb0(%a: index, %b: index, %c: index, %d: index):
    %p = arith.addi %a, %b : index
    %q = arith.muli %c, %d : index
    %pq = arith.addi %p, %q : index
    %k = arith.index_cast %pq : index to i64
    %g = arith.sitofp %k : i64 to f64
    %v = arith.mulf %g, %y : f64
    %s = math.sin %v : f64
    tensor.yield %s : f64
  } : tensor<3x2x2x3xf64>
  %o0 = tensor.splat %zero : tensor<1x3x2x3xf64>
  %o = linalg.conv_2d_nhwc_hwcf {strides = dense<[2, 3]> : tensor<2xi64>, dilations = dense<[1, 2]> : tensor<2xi64>} ins(%img, %ker : tensor<1x7x6x2xf64>, tensor<3x2x2x3xf64>) outs(%o0 : tensor<1x3x2x3xf64>) -> tensor<1x3x2x3xf64>
  %c2 = arith.constant 2 : index
  %r = tensor.extract %o[%c0, %c2, %c1, %c2] : tensor<1x3x2x3xf64>
  %s = tensor.extract %o[%c0, %c1, %c0, %c1] : tensor<1x3x2x3xf64>
  %t = arith.mulf %r, %s : f64
  return %t : f64
}
