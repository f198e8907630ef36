// INPUT: 0.7 0.2 5
// INPUT: -1.1 0.4 8
// A scan in log steps (Hillis and Steele) between two buffers, whose roles change by a select of views in a loop.
func.func @f(%a: f64, %b: f64, %n: index) -> f64 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %x = memref.alloc(%n) : memref<?xf64>
  %y = memref.alloc(%n) : memref<?xf64>
  scf.for %i = %c0 to %n step %c1 {
    %i64 = arith.index_cast %i : index to i64
    %f = arith.sitofp %i64 : i64 to f64
    %p = arith.mulf %f, %a : f64
    %s = math.sin %p : f64
    %t = arith.addf %s, %b : f64
    memref.store %t, %x[%i] : memref<?xf64>
  }
  %end = scf.while (%d = %c1) : (index) -> (index) {
    %go = arith.cmpi slt, %d, %n : index
    scf.condition(%go) %d : index
  } do {
  ^bb0(%d: index):
    scf.for %i = %c0 to %n step %c1 {
      %v = memref.load %x[%i] : memref<?xf64>
      %far = arith.cmpi sge, %i, %d : index
      %w = scf.if %far -> f64 {
        %j = arith.subi %i, %d : index
        %u = memref.load %x[%j] : memref<?xf64>
        %p = arith.mulf %u, %v : f64
        %q = math.atan %p : f64
        %r = arith.addf %q, %v : f64
        scf.yield %r : f64
      } else {
        scf.yield %v : f64
      }
      memref.store %w, %y[%i] : memref<?xf64>
    }
    memref.copy %y, %x : memref<?xf64> to memref<?xf64>
    %e = arith.muli %d, %c2 : index
    scf.yield %e : index
  }
  %l = arith.subi %n, %c1 : index
  %r = memref.load %x[%l] : memref<?xf64>
  memref.dealloc %x : memref<?xf64>
  memref.dealloc %y : memref<?xf64>
  return %r : f64
}
