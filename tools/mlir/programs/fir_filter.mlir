// MOST: 20, bufferization copies tensors of the adjoint in its inner loop
// INPUT: 0.5 1.5
func.func private @taps(%x: f64) -> tensor<4xf64> {
  %h = arith.constant 0.5 : f64
  %a = arith.mulf %x, %h : f64
  %b = arith.mulf %a, %h : f64
  %c = arith.mulf %b, %h : f64
  %t = tensor.from_elements %x, %a, %b, %c : tensor<4xf64>
  return %t : tensor<4xf64>
}
func.func @f(%x: f64, %y: f64) -> f64 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %c4 = arith.constant 4 : index
  %c12 = arith.constant 12 : index
  %zero = arith.constant 0.0 : f64
  %taps = call @taps(%x) : (f64) -> tensor<4xf64>
  %sig = tensor.generate {
  ^bb0(%i: index):
    %k = arith.index_cast %i : index to i64
    %g = arith.sitofp %k : i64 to f64
    %v = arith.mulf %g, %y : f64
    %s = math.sin %v : f64
    tensor.yield %s : f64
  } : tensor<12xf64>
  %e = tensor.empty() : tensor<12xf64>
  %z = linalg.fill ins(%zero : f64) outs(%e : tensor<12xf64>) -> tensor<12xf64>
  %out = scf.for %i = %c3 to %c12 step %c1 iter_args(%o = %z) -> (tensor<12xf64>) {
    %v = scf.for %j = %c0 to %c4 step %c1 iter_args(%a = %zero) -> (f64) {
      %p = arith.subi %i, %j : index
      %s = tensor.extract %sig[%p] : tensor<12xf64>
      %h = tensor.extract %taps[%j] : tensor<4xf64>
      %m = arith.mulf %s, %h : f64
      %n = arith.addf %a, %m : f64
      scf.yield %n : f64
    }
    %u = tensor.insert %v into %o[%i] : tensor<12xf64>
    scf.yield %u : tensor<12xf64>
  }
  %c7 = arith.constant 7 : index
  %q = tensor.extract %out[%c7] : tensor<12xf64>
  return %q : f64
}
