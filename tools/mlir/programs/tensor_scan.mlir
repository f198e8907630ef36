// INPUT: 0.7 0.3
// INPUT: 1.1 -0.4
// Elements of a tensor that a loop carries: each becomes a function of its neighbour.
func.func @f(%x: f64, %y: f64) -> f64 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c63 = arith.constant 63 : index
  %c64 = arith.constant 64 : index
  %a = tensor.splat %x : tensor<64xf64>
  %b = tensor.insert %y into %a[%c0] : tensor<64xf64>
  %c = scf.for %i = %c1 to %c64 step %c1 iter_args(%t = %b) -> (tensor<64xf64>) {
    %h = arith.subi %i, %c1 : index
    %p = tensor.extract %t[%h] : tensor<64xf64>
    %q = tensor.extract %t[%i] : tensor<64xf64>
    %s = math.sin %q : f64
    %r = arith.mulf %s, %p : f64
    %u = arith.addf %r, %p : f64
    %v = tensor.insert %u into %t[%i] : tensor<64xf64>
    scf.yield %v : tensor<64xf64>
  }
  %z = tensor.extract %c[%c63] : tensor<64xf64>
  return %z : f64
}
