// INPUT: 0.7 0.3
// INPUT: -1.2 1.4
// Parts of tensors, what is computed element by element, and a tensor that a region makes.
func.func @f(%x: f64, %y: f64) -> f64 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %c8 = arith.constant 8 : index
  %zero = arith.constant 0.0 : f64
  %g = tensor.generate %c8 {
  ^bb0(%i: index):
    %k = arith.index_cast %i : index to i64
    %w = arith.sitofp %k : i64 to f64
    %v = arith.mulf %x, %w : f64
    %u = math.cos %v : f64
    tensor.yield %u : f64
  } : tensor<?xf64>
  %s = tensor.cast %g : tensor<?xf64> to tensor<8xf64>
  %lower = tensor.extract_slice %s[0] [4] [1] : tensor<8xf64> to tensor<4xf64>
  %upper = tensor.extract_slice %s[%c1] [4] [%c2 ] : tensor<8xf64> to tensor<4xf64>
  %p = arith.mulf %lower, %upper : tensor<4xf64>
  %e = math.exp %p : tensor<4xf64>
  %ys = tensor.from_elements %y, %x, %zero, %y : tensor<4xf64>
  %q = arith.addf %e, %ys : tensor<4xf64>
  %into = tensor.insert_slice %q into %s[2] [4] [1] : tensor<4xf64> into tensor<8xf64>
  %d = tensor.dim %into, %c0 : tensor<8xf64>
  %sum = scf.for %i = %c0 to %d step %c1 iter_args(%a = %zero) -> (f64) {
    %v = tensor.extract %into[%i] : tensor<8xf64>
    %w = arith.mulf %v, %v : f64
    %b = arith.addf %a, %w : f64
    scf.yield %b : f64
  }
  return %sum : f64
}
