// INPUT: 0.7 0.3
func.func @f(%x: f64, %y: f64) -> f64 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c5 = arith.constant 5 : index
  %x2 = arith.mulf %x, %x : f64
  %xy = arith.mulf %x, %y : f64
  %neg = arith.negf %y : f64
  %t0 = tensor.from_elements %x, %y, %x2, %xy, %neg : tensor<5xf64>
  %sorted = scf.for %i = %c0 to %c5 step %c1 iter_args(%t = %t0) -> (tensor<5xf64>) {
    %c4 = arith.constant 4 : index
    %r = scf.for %j = %c0 to %c4 step %c1 iter_args(%u = %t) -> (tensor<5xf64>) {
      %k = arith.addi %j, %c1 : index
      %a = tensor.extract %u[%j] : tensor<5xf64>
      %b = tensor.extract %u[%k] : tensor<5xf64>
      %lo = arith.minimumf %a, %b : f64
      %hi = arith.maximumf %a, %b : f64
      %v = tensor.insert %lo into %u[%j] : tensor<5xf64>
      %w = tensor.insert %hi into %v[%k] : tensor<5xf64>
      scf.yield %w : tensor<5xf64>
    }
    scf.yield %r : tensor<5xf64>
  }
  %p = tensor.extract %sorted[%c1] : tensor<5xf64>
  %q = tensor.extract %sorted[%c2] : tensor<5xf64>
  %s = arith.divf %p, %q : f64
  return %s : f64
}
