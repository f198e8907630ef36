// UNTIMED: clang computes the function when it compiles it
// INPUT: 0.7 -0.3
func.func @f(%x: f64, %y: f64) -> f64 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f64
  %A = memref.alloc() : memref<4x3xf64>
  %B = memref.alloc() : memref<3x2xf64>
  %C = memref.alloc() : memref<4x2xf64>
  linalg.fill ins(%x : f64) outs(%A : memref<4x3xf64>)
  linalg.fill ins(%y : f64) outs(%B : memref<3x2xf64>)
  linalg.fill ins(%zero : f64) outs(%C : memref<4x2xf64>)
  memref.store %y, %A[%c1, %c0] : memref<4x3xf64>
  linalg.matmul ins(%A, %B : memref<4x3xf64>, memref<3x2xf64>) outs(%C : memref<4x2xf64>)
  %r = memref.load %C[%c1, %c1] : memref<4x2xf64>
  return %r : f64
}
