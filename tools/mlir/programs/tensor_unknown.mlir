// INPUT: 0.9 7
func.func @f(%x: f64, %n: index) -> f64 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %t0 = tensor.splat %x[%n] : tensor<?xf64>
  %t = scf.for %i = %c1 to %n step %c1 iter_args(%t = %t0) -> (tensor<?xf64>) {
    %p = arith.subi %i, %c1 : index
    %a = tensor.extract %t[%p] : tensor<?xf64>
    %b = tensor.extract %t[%i] : tensor<?xf64>
    %c = arith.mulf %a, %b : f64
    %d = math.tanh %c : f64
    %u = tensor.insert %d into %t[%i] : tensor<?xf64>
    scf.yield %u : tensor<?xf64>
  }
  %d = tensor.dim %t, %c0 : tensor<?xf64>
  %l = arith.subi %d, %c1 : index
  %r = tensor.extract %t[%l] : tensor<?xf64>
  return %r : f64
}
