// INPUT: 0.7 -0.3
func.func @f(%x: f64, %y: f64) -> f64 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f64
  %a = tensor.from_elements %x, %y, %x, %y, %x, %x : tensor<2x3xf64>
  %e = tensor.empty() : tensor<2x3xf64>
  %m = "linalg.map"(%a, %e) ({
  ^bb0(%in: f64):
    %s = math.sin %in : f64
    "linalg.yield"(%s) : (f64) -> ()
  }) : (tensor<2x3xf64>, tensor<2x3xf64>) -> tensor<2x3xf64>
  %t0 = tensor.empty() : tensor<3x2xf64>
  %t = linalg.transpose ins(%m : tensor<2x3xf64>) outs(%t0 : tensor<3x2xf64>) permutation = [1, 0]
  %r0 = tensor.splat %zero : tensor<3xf64>
  %r = "linalg.reduce"(%t, %r0) <{dimensions = array<i64: 1>}> ({
  ^bb0(%in: f64, %out: f64):
    %s = arith.mulf %in, %in : f64
    %q = arith.addf %s, %out : f64
    "linalg.yield"(%q) : (f64) -> ()
  }) : (tensor<3x2xf64>, tensor<3xf64>) -> tensor<3xf64>
  %b0 = tensor.empty() : tensor<3x4xf64>
  %b = linalg.broadcast ins(%r : tensor<3xf64>) outs(%b0 : tensor<3x4xf64>) dimensions = [1]
  %c2 = arith.constant 2 : index
  %v = tensor.extract %b[%c0, %c2] : tensor<3x4xf64>
  %w = tensor.extract %b[%c1, %c0] : tensor<3x4xf64>
  %z = arith.mulf %v, %w : f64
  return %z : f64
}
