// MOST: 6, the function is 60 ns: two buffers of eight elements
// INPUT: 0.6 -0.2 5
// Two matrices swapped in a while loop.
func.func @f(%x: f64, %y: f64, %n: index) -> f64 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c5 = arith.constant 5 : index
  %c6 = arith.constant 6 : index
  %q = arith.constant 0.25 : f64
  %u = memref.alloc() : memref<6x6xf64>
  %v = memref.alloc() : memref<6x6xf64>
  linalg.fill ins(%x : f64) outs(%u : memref<6x6xf64>)
  memref.store %y, %u[%c2, %c0] : memref<6x6xf64>
  memref.copy %u, %v : memref<6x6xf64> to memref<6x6xf64>
  %r:3 = scf.while (%i = %c0, %a = %u, %b = %v) : (index, memref<6x6xf64>, memref<6x6xf64>) -> (index, memref<6x6xf64>, memref<6x6xf64>) {
    %go = arith.cmpi slt, %i, %n : index
    scf.condition(%go) %i, %a, %b : index, memref<6x6xf64>, memref<6x6xf64>
  } do {
  ^bb0(%i: index, %a: memref<6x6xf64>, %b: memref<6x6xf64>):
    scf.for %p = %c1 to %c5 step %c1 {
      scf.for %s = %c1 to %c5 step %c1 {
        %pm = arith.subi %p, %c1 : index
        %pp = arith.addi %p, %c1 : index
        %sm = arith.subi %s, %c1 : index
        %sp = arith.addi %s, %c1 : index
        %0 = memref.load %a[%pm, %s] : memref<6x6xf64>
        %1 = memref.load %a[%pp, %s] : memref<6x6xf64>
        %2 = memref.load %a[%p, %sm] : memref<6x6xf64>
        %3 = memref.load %a[%p, %sp] : memref<6x6xf64>
        %4 = arith.addf %0, %1 : f64
        %5 = arith.addf %2, %3 : f64
        %6 = arith.mulf %4, %5 : f64
        %7 = arith.mulf %6, %q : f64
        memref.store %7, %b[%p, %s] : memref<6x6xf64>
      }
    }
    %j = arith.addi %i, %c1 : index
    scf.yield %j, %b, %a : index, memref<6x6xf64>, memref<6x6xf64>
  }
  %z = memref.load %r#1[%c2, %c1] : memref<6x6xf64>
  memref.dealloc %u : memref<6x6xf64>
  memref.dealloc %v : memref<6x6xf64>
  return %z : f64
}
