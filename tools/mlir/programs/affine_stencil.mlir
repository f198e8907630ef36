// MOST: 14, clang unrolls the loops of the function, and computes several elements at once
// INPUT: 0.7 -0.3
func.func @f(%x: f64, %y: f64) -> f64 {
  %a = memref.alloc() : memref<10xf64>
  %b = memref.alloc() : memref<10xf64>
  affine.for %i = 0 to 10 {
    affine.store %x, %a[%i] : memref<10xf64>
    affine.store %y, %b[%i] : memref<10xf64>
  }
  affine.store %y, %a[4] : memref<10xf64>
  affine.for %t = 0 to 3 {
    affine.for %i = 1 to 9 {
      %l = affine.load %a[%i - 1] : memref<10xf64>
      %r = affine.load %a[%i + 1] : memref<10xf64>
      %s = arith.mulf %l, %r : f64
      affine.store %s, %b[%i] : memref<10xf64>
    }
    affine.for %i = 1 to 9 {
      %v = affine.load %b[%i] : memref<10xf64>
      affine.store %v, %a[%i] : memref<10xf64>
    }
  }
  %res = affine.load %a[5] : memref<10xf64>
  return %res : f64
}
