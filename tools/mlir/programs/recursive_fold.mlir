// INPUT: 0.7 0.2 7
// INPUT: -1.1 0.4 4
// A buffer is folded by halves, recursively; each half writes its sum into a work array.
func.func private @fold(%m: memref<?xf64>, %lo: index, %hi: index) -> f64 {
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %len = arith.subi %hi, %lo : index
  %small = arith.cmpi sle, %len, %c1 : index
  %r = scf.if %small -> (f64) {
    %v = memref.load %m[%lo] : memref<?xf64>
    %s = math.sin %v : f64
    scf.yield %s : f64
  } else {
    %sum = arith.addi %lo, %hi : index
    %mid = arith.divui %sum, %c2 : index
    %x = func.call @fold(%m, %lo, %mid) : (memref<?xf64>, index, index) -> f64
    memref.store %x, %m[%lo] : memref<?xf64>
    %y = func.call @fold(%m, %mid, %hi) : (memref<?xf64>, index, index) -> f64
    %p = arith.mulf %x, %y : f64
    %o = memref.load %m[%lo] : memref<?xf64>
    %q = arith.addf %p, %o : f64
    scf.yield %q : f64
  }
  return %r : f64
}
func.func @f(%a: f64, %b: f64, %n: index) -> f64 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %m = memref.alloc(%n) : memref<?xf64>
  %l = scf.for %i = %c0 to %n step %c1 iter_args(%x = %a) -> f64 {
    memref.store %x, %m[%i] : memref<?xf64>
    %y = arith.mulf %x, %b : f64
    %z = arith.addf %y, %a : f64
    scf.yield %z : f64
  }
  %r = call @fold(%m, %c0, %n) : (memref<?xf64>, index, index) -> f64
  %w = memref.load %m[%c0] : memref<?xf64>
  %o = arith.mulf %w, %r : f64
  memref.dealloc %m : memref<?xf64>
  return %o : f64
}
