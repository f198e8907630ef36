// INPUT: 0.9 3
func.func @f(%x: f64, %n: index) -> f64 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %m = memref.alloc() : memref<4xf64>
  %v = memref.cast %m : memref<4xf64> to memref<?xf64>
  %s = memref.subview %m[1] [2] [1] : memref<4xf64> to memref<2xf64, strided<[1], offset: 1>>
  memref.store %x, %m[%c1] : memref<4xf64>
  %a = memref.load %s[%c0] : memref<2xf64, strided<[1], offset: 1>>
  %b = math.sin %a : f64
  memref.store %b, %v[%c1] : memref<?xf64>
  %c = memref.load %m[%c1] : memref<4xf64>
  %d = memref.load %s[%c0] : memref<2xf64, strided<[1], offset: 1>>
  %e = arith.mulf %c, %d : f64
  memref.store %e, %s[%c0] : memref<2xf64, strided<[1], offset: 1>>
  %f = memref.load %v[%c1] : memref<?xf64>
  %g = arith.addf %f, %a : f64
  memref.dealloc %m : memref<4xf64>
  return %g : f64
}
