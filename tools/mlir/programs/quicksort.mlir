// INPUT: 0.9 1.3
// Recursion on a buffer.
func.func private @sort(%m: memref<?xf64>, %lo: index, %hi: index) {
  %c1 = arith.constant 1 : index
  %more = arith.cmpi slt, %lo, %hi : index
  scf.if %more {
    %pivot = memref.load %m[%hi] : memref<?xf64>
    %at = scf.for %j = %lo to %hi step %c1 iter_args(%i = %lo) -> (index) {
      %v = memref.load %m[%j] : memref<?xf64>
      %lt = arith.cmpf olt, %v, %pivot : f64
      %n = scf.if %lt -> (index) {
        %w = memref.load %m[%i] : memref<?xf64>
        memref.store %v, %m[%i] : memref<?xf64>
        memref.store %w, %m[%j] : memref<?xf64>
        %k = arith.addi %i, %c1 : index
        scf.yield %k : index
      } else {
        scf.yield %i : index
      }
      scf.yield %n : index
    }
    %w = memref.load %m[%at] : memref<?xf64>
    memref.store %pivot, %m[%at] : memref<?xf64>
    memref.store %w, %m[%hi] : memref<?xf64>
    %left = arith.subi %at, %c1 : index
    %right = arith.addi %at, %c1 : index
    func.call @sort(%m, %lo, %left) : (memref<?xf64>, index, index) -> ()
    func.call @sort(%m, %right, %hi) : (memref<?xf64>, index, index) -> ()
  }
  return
}
func.func @f(%x: f64, %y: f64) -> f64 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %c8 = arith.constant 8 : index
  %c9 = arith.constant 9 : index
  %m = memref.alloc(%c9) : memref<?xf64>
  scf.for %i = %c0 to %c9 step %c1 {
    %k = arith.index_cast %i : index to i64
    %g = arith.sitofp %k : i64 to f64
    %a = arith.mulf %g, %x : f64
    %b = math.sin %a : f64
    %c = arith.mulf %b, %y : f64
    memref.store %c, %m[%i] : memref<?xf64>
  }
  call @sort(%m, %c0, %c8) : (memref<?xf64>, index, index) -> ()
  %p = memref.load %m[%c3] : memref<?xf64>
  %q = memref.load %m[%c8] : memref<?xf64>
  %s = arith.mulf %p, %q : f64
  memref.dealloc %m : memref<?xf64>
  return %s : f64
}
