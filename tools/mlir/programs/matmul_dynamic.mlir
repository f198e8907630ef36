// INPUT: 0.5 1.25 3
func.func private @mm(%a: memref<?x?xf64>, %b: memref<?x?xf64>, %c: memref<?x?xf64>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = memref.dim %c, %c0 : memref<?x?xf64>
  %m = memref.dim %c, %c1 : memref<?x?xf64>
  %l = memref.dim %a, %c1 : memref<?x?xf64>
  scf.parallel (%i, %j) = (%c0, %c0) to (%n, %m) step (%c1, %c1) {
    scf.for %k = %c0 to %l step %c1 {
      %u = memref.load %a[%i, %k] : memref<?x?xf64>
      %v = memref.load %b[%k, %j] : memref<?x?xf64>
      %w = memref.load %c[%i, %j] : memref<?x?xf64>
      %p = arith.mulf %u, %v : f64
      %s = arith.addf %w, %p : f64
      memref.store %s, %c[%i, %j] : memref<?x?xf64>
    }
    scf.reduce
  }
  return
}
func.func @f(%x: f64, %y: f64, %n: index) -> f64 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f64
  %a = memref.alloc(%n, %n) : memref<?x?xf64>
  %b = memref.alloc(%n, %n) : memref<?x?xf64>
  %c = memref.alloc(%n, %n) : memref<?x?xf64>
  linalg.fill ins(%x : f64) outs(%a : memref<?x?xf64>)
  linalg.fill ins(%y : f64) outs(%b : memref<?x?xf64>)
  linalg.fill ins(%zero : f64) outs(%c : memref<?x?xf64>)
  memref.store %y, %a[%c1, %c0] : memref<?x?xf64>
  call @mm(%a, %b, %c) : (memref<?x?xf64>, memref<?x?xf64>, memref<?x?xf64>) -> ()
  call @mm(%c, %a, %b) : (memref<?x?xf64>, memref<?x?xf64>, memref<?x?xf64>) -> ()
  %r = memref.load %b[%c1, %c1] : memref<?x?xf64>
  memref.dealloc %a : memref<?x?xf64>
  memref.dealloc %b : memref<?x?xf64>
  memref.dealloc %c : memref<?x?xf64>
  return %r : f64
}
