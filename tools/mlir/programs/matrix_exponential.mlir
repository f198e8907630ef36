// INPUT: 0.7 0.2
// INPUT: -1.1 0.4
// The exponential of a matrix by its series, with tensors and linalg.matmul.
func.func @f(%a: f64, %b: f64) -> f64 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c9 = arith.constant 9 : index
  %zero = arith.constant 0.0 : f64
  %eye = arith.constant dense<[[1.0, 0.0], [0.0, 1.0]]> : tensor<2x2xf64>
  %nb = arith.negf %b : f64
  %m = tensor.from_elements %a, %b, %nb, %a : tensor<2x2xf64>
  %e:2 = scf.for %k = %c1 to %c9 step %c1 iter_args(%sum = %eye, %term = %eye) -> (tensor<2x2xf64>, tensor<2x2xf64>) {
    %k64 = arith.index_cast %k : index to i64
    %kf = arith.sitofp %k64 : i64 to f64
    %empty = tensor.empty() : tensor<2x2xf64>
    %init = linalg.fill ins(%zero : f64) outs(%empty : tensor<2x2xf64>) -> tensor<2x2xf64>
    %p = linalg.matmul ins(%term, %m : tensor<2x2xf64>, tensor<2x2xf64>) outs(%init : tensor<2x2xf64>) -> tensor<2x2xf64>
    %ks = tensor.splat %kf : tensor<2x2xf64>
    %t = arith.divf %p, %ks : tensor<2x2xf64>
    %s = arith.addf %sum, %t : tensor<2x2xf64>
    scf.yield %s, %t : tensor<2x2xf64>, tensor<2x2xf64>
  }
  %x = tensor.extract %e#0[%c0, %c1] : tensor<2x2xf64>
  %y = tensor.extract %e#0[%c1, %c1] : tensor<2x2xf64>
  %r = arith.mulf %x, %y : f64
  return %r : f64
}
