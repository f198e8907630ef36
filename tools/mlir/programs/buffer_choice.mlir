// INPUT: 1.0 0.1
// INPUT: -1.0 0.1
// Which of two buffers is chosen by a branch.
func.func @f(%x: f64, %y: f64) -> f64 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f64
  %a = memref.alloc() : memref<2xf64>
  %b = memref.alloc() : memref<2xf64>
  linalg.fill ins(%x : f64) outs(%a : memref<2xf64>)
  linalg.fill ins(%y : f64) outs(%b : memref<2xf64>)
  %p = arith.cmpf ogt, %x, %zero : f64
  %m = scf.if %p -> (memref<2xf64>) {
    scf.yield %a : memref<2xf64>
  } else {
    scf.yield %b : memref<2xf64>
  }
  %v = memref.load %m[%c0] : memref<2xf64>
  %s = math.sin %v : f64
  memref.store %s, %m[%c1] : memref<2xf64>
  %q = arith.select %p, %b, %a : memref<2xf64>
  %u = memref.load %q[%c0] : memref<2xf64>
  memref.store %u, %m[%c0] : memref<2xf64>
  %r0 = memref.load %a[%c1] : memref<2xf64>
  %r1 = memref.load %m[%c0] : memref<2xf64>
  %r2 = arith.mulf %r0, %r1 : f64
  %r3 = memref.load %m[%c1] : memref<2xf64>
  %r = arith.addf %r2, %r3 : f64
  memref.dealloc %a : memref<2xf64>
  memref.dealloc %b : memref<2xf64>
  return %r : f64
}
