// INPUT: 0.7 -0.4
func.func @f(%x: f64, %y: f64) -> f64 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %neg = arith.constant 0xFFF0000000000000 : f64
  %img = tensor.generate {
  ^bb0(%a: index, %h: index, %w: index, %c: index):
    %p = arith.muli %h, %w : index
    %k = arith.index_cast %p : index to i64
    %g = arith.sitofp %k : i64 to f64
    %v = arith.mulf %g, %x : f64
    %u = arith.subf %v, %y : f64
    %s = math.sin %u : f64
    tensor.yield %s : f64
  } : tensor<1x6x6x1xf64>
  %win = tensor.empty() : tensor<2x2xf64>
  %o0 = tensor.splat %neg : tensor<1x3x3x1xf64>
  %o = linalg.pooling_nhwc_max {strides = dense<2> : tensor<2xi64>, dilations = dense<1> : tensor<2xi64>} ins(%img, %win : tensor<1x6x6x1xf64>, tensor<2x2xf64>) outs(%o0 : tensor<1x3x3x1xf64>) -> tensor<1x3x3x1xf64>
  %r = tensor.extract %o[%c0, %c1, %c1, %c0] : tensor<1x3x3x1xf64>
  return %r : f64
}
