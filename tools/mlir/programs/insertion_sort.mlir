// INPUT: 0.4 1.7
func.func @f(%x: f64, %y: f64) -> f64 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %c8 = arith.constant 8 : index
  %m = memref.alloca() : memref<8xf64>
  scf.for %i = %c0 to %c8 step %c1 {
    %i5 = arith.muli %i, %c3 : index
    %r = arith.remui %i5, %c8 : index
    %k = arith.index_cast %r : index to i64
    %g = arith.sitofp %k : i64 to f64
    %a = arith.mulf %g, %x : f64
    %b = math.sin %a : f64
    %c = arith.mulf %b, %y : f64
    memref.store %c, %m[%i] : memref<8xf64>
  }
  scf.for %i = %c1 to %c8 step %c1 {
    %key = memref.load %m[%i] : memref<8xf64>
    %pos = scf.while (%j = %i) : (index) -> index {
      %positive = arith.cmpi sgt, %j, %c0 : index
      %go = scf.if %positive -> (i1) {
        %p = arith.subi %j, %c1 : index
        %v = memref.load %m[%p] : memref<8xf64>
        %gt = arith.cmpf ogt, %v, %key : f64
        scf.yield %gt : i1
      } else {
        %no = arith.constant false
        scf.yield %no : i1
      }
      scf.condition(%go) %j : index
    } do {
    ^bb0(%j: index):
      %p = arith.subi %j, %c1 : index
      %v = memref.load %m[%p] : memref<8xf64>
      memref.store %v, %m[%j] : memref<8xf64>
      scf.yield %p : index
    }
    memref.store %key, %m[%pos] : memref<8xf64>
  }
  %lo = memref.load %m[%c1] : memref<8xf64>
  %hi = memref.load %m[%c3] : memref<8xf64>
  %d = arith.mulf %lo, %hi : f64
  return %d : f64
}
