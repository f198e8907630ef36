// MOST: 70, ten instructions: clang computes on registers what the gradient keeps in buffers
// INPUT: 0.5 0.7
func.func @f(%x: f64, %y: f64) -> f64 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %m = memref.alloc() : memref<2xf64>
  memref.store %x, %m[%c0] : memref<2xf64>
  memref.store %y, %m[%c1] : memref<2xf64>
  %t = bufferization.to_tensor %m restrict : memref<2xf64>
  %p = tensor.extract %t[%c0] : tensor<2xf64>
  %q = tensor.extract %t[%c1] : tensor<2xf64>
  %r = arith.mulf %p, %q : f64
  return %r : f64
}
