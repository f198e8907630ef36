// MOST: 4.5, 4.1 times its time
// INPUT: 0.7 0.2
// INPUT: -1.1 0.4
// The best path through a lattice: maxima with the places where they are, then a walk back over the places.
func.func @f(%a: f64, %b: f64) -> f64 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %c6 = arith.constant 6 : index
  %zero = arith.constant 0.0 : f64
  %low = arith.constant -1.0e30 : f64
  %score = memref.alloc() : memref<6x3xf64>
  %from = memref.alloc() : memref<6x3xindex>
  scf.for %j = %c0 to %c3 step %c1 {
    memref.store %a, %score[%c0, %j] : memref<6x3xf64>
    memref.store %c0, %from[%c0, %j] : memref<6x3xindex>
  }
  scf.for %t = %c1 to %c6 step %c1 {
    %tm = arith.subi %t, %c1 : index
    scf.for %j = %c0 to %c3 step %c1 {
      %best:2 = scf.for %k = %c0 to %c3 step %c1 iter_args(%v = %low, %w = %c0) -> (f64, index) {
        %s = memref.load %score[%tm, %k] : memref<6x3xf64>
        %jk = arith.muli %j, %k : index
        %tk = arith.addi %jk, %t : index
        %t64 = arith.index_cast %tk : index to i64
        %f = arith.sitofp %t64 : i64 to f64
        %p = arith.mulf %f, %b : f64
        %sin = math.sin %p : f64
        %c = arith.mulf %sin, %a : f64
        %n = arith.addf %s, %c : f64
        %gt = arith.cmpf ogt, %n, %v : f64
        %nv = arith.maximumf %n, %v : f64
        %nk = arith.select %gt, %k, %w : index
        scf.yield %nv, %nk : f64, index
      }
      memref.store %best#0, %score[%t, %j] : memref<6x3xf64>
      memref.store %best#1, %from[%t, %j] : memref<6x3xindex>
    }
  }
  %c5 = arith.constant 5 : index
  %walk:2 = scf.for %k = %c0 to %c6 step %c1 iter_args(%at = %c1, %sum = %zero) -> (index, f64) {
    %t = arith.subi %c5, %k : index
    %s = memref.load %score[%t, %at] : memref<6x3xf64>
    %q = arith.mulf %s, %s : f64
    %n = arith.addf %sum, %q : f64
    %next = memref.load %from[%t, %at] : memref<6x3xindex>
    scf.yield %next, %n : index, f64
  }
  memref.dealloc %score : memref<6x3xf64>
  memref.dealloc %from : memref<6x3xindex>
  return %walk#1 : f64
}
