// INPUT: 0.9 -0.4
func.func @f(%x: f64, %y: f64) -> f64 {
  %c2 = arith.constant 2 : index
  %e = tensor.empty() : tensor<4xf64>
  %r = scf.forall (%i) in (4) shared_outs(%o = %e) -> (tensor<4xf64>) {
    %k = arith.index_cast %i : index to i64
    %g = arith.sitofp %k : i64 to f64
    %v = arith.mulf %g, %x : f64
    %t = tensor.from_elements %v : tensor<1xf64>
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %t into %o[%i] [1] [1] : tensor<1xf64> into tensor<4xf64>
    }
  }
  %s = tensor.extract %r[%c2] : tensor<4xf64>
  %p = arith.mulf %s, %y : f64
  return %p : f64
}
