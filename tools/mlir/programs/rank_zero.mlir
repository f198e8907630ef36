// INPUT: 0.7 4
func.func @f(%x: f64, %n: index) -> f64 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %t = tensor.from_elements %x : tensor<f64>
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%a = %t) -> (tensor<f64>) {
    %s = math.sin %a : tensor<f64>
    %p = arith.addf %s, %t : tensor<f64>
    scf.yield %p : tensor<f64>
  }
  %v = tensor.extract %r[] : tensor<f64>
  return %v : f64
}
