// INPUT: 0.7 6
// INPUT: 1.1 1
// TIME: 0.7 500
// Elements that are overwritten: b[i] becomes sin(b[i]) * b[i - 1], in place, after b[i] = x * i.
func.func @f(%x: f64, %n: index) -> f64 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %b = memref.alloc(%n) : memref<?xf64>
  scf.for %i = %c0 to %n step %c1 {
    %k = arith.index_cast %i : index to i64
    %w = arith.sitofp %k : i64 to f64
    %v = arith.mulf %x, %w : f64
    %u = arith.addf %v, %x : f64
    memref.store %u, %b[%i] : memref<?xf64>
  }
  scf.for %i = %c1 to %n step %c1 {
    %h = arith.subi %i, %c1 : index
    %p = memref.load %b[%h] : memref<?xf64>
    %q = memref.load %b[%i] : memref<?xf64>
    %s = math.sin %q : f64
    %r = arith.mulf %s, %p : f64
    %t = arith.addf %r, %p : f64
    memref.store %t, %b[%i] : memref<?xf64>
  }
  %m = arith.subi %n, %c1 : index
  %y = memref.load %b[%m] : memref<?xf64>
  memref.dealloc %b : memref<?xf64>
  return %y : f64
}
