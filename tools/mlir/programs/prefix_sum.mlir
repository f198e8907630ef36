// INPUT: 0.4 1.7
// In place, by doubling strides.
func.func @f(%x: f64, %y: f64) -> f64 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %n = arith.constant 16 : index
  %a = memref.alloc(%n) : memref<?xf64>
  scf.for %i = %c0 to %n step %c1 {
    %k = arith.index_cast %i : index to i64
    %g = arith.sitofp %k : i64 to f64
    %v = arith.mulf %g, %x : f64
    %w = math.tanh %v : f64
    memref.store %w, %a[%i] : memref<?xf64>
  }
  %end = scf.while (%d = %c1) : (index) -> index {
    %go = arith.cmpi ult, %d, %n : index
    scf.condition(%go) %d : index
  } do {
  ^bb0(%d: index):
    %span = arith.subi %n, %d : index
    scf.for %i = %c0 to %span step %c1 {
      %up = arith.subi %n, %c1 : index
      %j = arith.subi %up, %i : index
      %p = arith.subi %j, %d : index
      %u = memref.load %a[%j] : memref<?xf64>
      %v = memref.load %a[%p] : memref<?xf64>
      %vy = arith.mulf %v, %y : f64
      %s = arith.addf %u, %vy : f64
      memref.store %s, %a[%j] : memref<?xf64>
    }
    %e = arith.shli %d, %c1 : index
    scf.yield %e : index
  }
  %c11 = arith.constant 11 : index
  %r = memref.load %a[%c11] : memref<?xf64>
  memref.dealloc %a : memref<?xf64>
  return %r : f64
}
