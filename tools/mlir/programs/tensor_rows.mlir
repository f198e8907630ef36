// INPUT: 0.7 3
// INPUT: -0.4 0
// INPUT: 1.3 8
// Rows of a matrix that a loop changes as a whole, which records tensors.
func.func @f(%x: f64, %n: index) -> f64 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %half = arith.constant dense<0.5> : tensor<2x3xf64>
  %a = tensor.splat %x : tensor<2x3xf64>
  %b = scf.for %i = %c0 to %n step %c1 iter_args(%t = %a) -> (tensor<2x3xf64>) {
    %s = math.sin %t : tensor<2x3xf64>
    %p = arith.mulf %s, %t : tensor<2x3xf64>
    %q = arith.addf %p, %half : tensor<2x3xf64>
    %row = tensor.extract_slice %q[0, 0] [1, 3] [1, 1] : tensor<2x3xf64> to tensor<3xf64>
    %twice = arith.mulf %row, %row : tensor<3xf64>
    %r = tensor.insert_slice %twice into %q[1, 0] [1, 3] [1, 1] : tensor<3xf64> into tensor<2x3xf64>
    scf.yield %r : tensor<2x3xf64>
  }
  %u = tensor.extract %b[%c1, %c0] : tensor<2x3xf64>
  %v = tensor.extract %b[%c0, %c1] : tensor<2x3xf64>
  %y = arith.mulf %u, %v : f64
  return %y : f64
}
