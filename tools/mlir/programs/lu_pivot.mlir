// INPUT: 0.7 0.2
// INPUT: -1.9 0.4
// A determinant by Gaussian elimination with partial pivoting.
func.func @f(%a: f64, %b: f64) -> f64 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %one = arith.constant 1.0 : f64
  %m = memref.alloc() : memref<4x4xf64>
  scf.for %i = %c0 to %c4 step %c1 {
    scf.for %j = %c0 to %c4 step %c1 {
      %k = arith.muli %i, %c4 : index
      %l = arith.addi %k, %j : index
      %l64 = arith.index_castui %l : index to i64
      %lf = arith.uitofp %l64 : i64 to f64
      %p = arith.mulf %lf, %a : f64
      %s = math.sin %p : f64
      %diag = arith.cmpi eq, %i, %j : index
      %v = scf.if %diag -> f64 {
        %t = arith.mulf %s, %b : f64
        scf.yield %t : f64
      } else {
        scf.yield %s : f64
      }
      memref.store %v, %m[%i, %j] : memref<4x4xf64>
    }
  }
  memref.store %b, %m[%c0, %c0] : memref<4x4xf64>
  %det = scf.for %k = %c0 to %c4 step %c1 iter_args(%d = %one) -> (f64) {
    %v0 = memref.load %m[%k, %k] : memref<4x4xf64>
    %a0 = math.absf %v0 : f64
    %k1 = arith.addi %k, %c1 : index
    %best:2 = scf.for %i = %k1 to %c4 step %c1 iter_args(%bv = %a0, %bi = %k) -> (f64, index) {
      %v = memref.load %m[%i, %k] : memref<4x4xf64>
      %av = math.absf %v : f64
      %gt = arith.cmpf ogt, %av, %bv : f64
      %nv = arith.select %gt, %av, %bv : f64
      %ni = arith.select %gt, %i, %bi : index
      scf.yield %nv, %ni : f64, index
    }
    %swap = arith.cmpi ne, %best#1, %k : index
    %sign = scf.if %swap -> (f64) {
      scf.for %j = %c0 to %c4 step %c1 {
        %x = memref.load %m[%k, %j] : memref<4x4xf64>
        %y = memref.load %m[%best#1, %j] : memref<4x4xf64>
        memref.store %y, %m[%k, %j] : memref<4x4xf64>
        memref.store %x, %m[%best#1, %j] : memref<4x4xf64>
      }
      %neg = arith.negf %d : f64
      scf.yield %neg : f64
    } else {
      scf.yield %d : f64
    }
    %p = memref.load %m[%k, %k] : memref<4x4xf64>
    scf.for %i = %k1 to %c4 step %c1 {
      %v = memref.load %m[%i, %k] : memref<4x4xf64>
      %factor = arith.divf %v, %p : f64
      scf.for %j = %k1 to %c4 step %c1 {
        %x = memref.load %m[%i, %j] : memref<4x4xf64>
        %y = memref.load %m[%k, %j] : memref<4x4xf64>
        %fy = arith.mulf %factor, %y : f64
        %z = arith.subf %x, %fy : f64
        memref.store %z, %m[%i, %j] : memref<4x4xf64>
      }
    }
    %e = arith.mulf %sign, %p : f64
    scf.yield %e : f64
  }
  memref.dealloc %m : memref<4x4xf64>
  return %det : f64
}
