// INPUT: 0.5 0.7
func.func @f(%x: f64, %y: f64) -> f64 {
  %c1 = arith.constant 1 : index
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : index
  %t = tensor.from_elements %x, %y, %x : tensor<3xf64>
  %p = tensor.pad %t low[1] high[2] {
  ^bb0(%i: index):
    tensor.yield %y : f64
  } : tensor<3xf64> to tensor<6xf64>
  %a = tensor.extract %p[%c0] : tensor<6xf64>
  %b = tensor.extract %p[%c1] : tensor<6xf64>
  %c = tensor.extract %p[%c4] : tensor<6xf64>
  %d = arith.mulf %a, %b : f64
  %e = arith.mulf %d, %c : f64
  return %e : f64
}
