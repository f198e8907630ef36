// INPUT: 0.7 0.2 6
// INPUT: -1.1 0.4 1
// A tridiagonal system by the Thomas algorithm, of a size that is known when it runs.
func.func @f(%a: f64, %b: f64, %n: index) -> f64 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %one = arith.constant 1.0 : f64
  %four = arith.constant 4.0 : f64
  %c = memref.alloc(%n) : memref<?xf64>
  %d = memref.alloc(%n) : memref<?xf64>
  %diag = math.fma %a, %a, %four : f64
  %first = arith.divf %b, %diag : f64
  %right = arith.divf %one, %diag : f64
  memref.store %first, %c[%c0] : memref<?xf64>
  memref.store %right, %d[%c0] : memref<?xf64>
  scf.for %i = %c1 to %n step %c1 {
    %before = arith.subi %i, %c1 : index
    %cb = memref.load %c[%before] : memref<?xf64>
    %db = memref.load %d[%before] : memref<?xf64>
    %m0 = arith.mulf %a, %cb : f64
    %m = arith.subf %diag, %m0 : f64
    %ci = arith.divf %b, %m : f64
    memref.store %ci, %c[%i] : memref<?xf64>
    %ii = arith.index_cast %i : index to i32
    %if = arith.sitofp %ii : i32 to f64
    %rhs = math.cos %if : f64
    %t = arith.mulf %a, %db : f64
    %u = arith.subf %rhs, %t : f64
    %di = arith.divf %u, %m : f64
    memref.store %di, %d[%i] : memref<?xf64>
  }
  %last = arith.subi %n, %c1 : index
  scf.for %k = %c0 to %last step %c1 {
    %l = arith.subi %last, %k : index
    %i = arith.subi %l, %c1 : index
    %x = memref.load %d[%l] : memref<?xf64>
    %ci = memref.load %c[%i] : memref<?xf64>
    %di = memref.load %d[%i] : memref<?xf64>
    %p = arith.mulf %ci, %x : f64
    %y = arith.subf %di, %p : f64
    memref.store %y, %d[%i] : memref<?xf64>
  }
  %zero = arith.constant 0.0 : f64
  %sum = scf.for %i = %c0 to %n step %c1 iter_args(%s = %zero) -> (f64) {
    %x = memref.load %d[%i] : memref<?xf64>
    %q = arith.mulf %x, %x : f64
    %t = arith.addf %s, %q : f64
    scf.yield %t : f64
  }
  memref.dealloc %c : memref<?xf64>
  memref.dealloc %d : memref<?xf64>
  return %sum : f64
}
