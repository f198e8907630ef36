// INPUT: 0.9 6
func.func @f(%x: f64, %n: index) -> f64 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %n1 = arith.addi %n, %c1 : index
  %zero = arith.constant 0.0 : f64
  %t = memref.alloc(%n1, %n1) : memref<?x?xf64>
  scf.for %i = %c0 to %n1 step %c1 {
    memref.store %zero, %t[%i, %c0] : memref<?x?xf64>
    memref.store %zero, %t[%c0, %i] : memref<?x?xf64>
  }
  scf.for %i = %c1 to %n1 step %c1 {
    scf.for %j = %c1 to %n1 step %c1 {
      %a = arith.remui %i, %c3 : index
      %p = arith.muli %j, %j : index
      %b = arith.remui %p, %c3 : index
      %eq = arith.cmpi eq, %a, %b : index
      %im = arith.subi %i, %c1 : index
      %jm = arith.subi %j, %c1 : index
      %v = scf.if %eq -> (f64) {
        %d = memref.load %t[%im, %jm] : memref<?x?xf64>
        %e = arith.addf %d, %x : f64
        scf.yield %e : f64
      } else {
        %u = memref.load %t[%im, %j] : memref<?x?xf64>
        %l = memref.load %t[%i, %jm] : memref<?x?xf64>
        %mx = arith.maximumf %u, %l : f64
        scf.yield %mx : f64
      }
      memref.store %v, %t[%i, %j] : memref<?x?xf64>
    }
  }
  %r = memref.load %t[%n, %n] : memref<?x?xf64>
  memref.dealloc %t : memref<?x?xf64>
  return %r : f64
}
