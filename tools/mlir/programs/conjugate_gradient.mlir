// MOST: 6, clang unrolls the loops over five elements; 2.8 times its time
// INPUT: 0.7 0.2
// INPUT: -1.1 0.4
// Conjugate gradients on a small symmetric system, until the residual is small; helper functions on buffers.
func.func private @apply(%a: f64, %x: memref<5xf64>, %y: memref<5xf64>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %c5 = arith.constant 5 : index
  %four = arith.constant 4.0 : f64
  %d = math.fma %a, %a, %four : f64
  scf.for %i = %c0 to %c5 step %c1 {
    %v = memref.load %x[%i] : memref<5xf64>
    %s0 = arith.mulf %d, %v : f64
    %low = arith.cmpi ugt, %i, %c0 : index
    %s1 = scf.if %low -> f64 {
      %j = arith.subi %i, %c1 : index
      %w = memref.load %x[%j] : memref<5xf64>
      %p = arith.mulf %w, %a : f64
      %q = arith.subf %s0, %p : f64
      scf.yield %q : f64
    } else {
      scf.yield %s0 : f64
    }
    %high = arith.cmpi ult, %i, %c4 : index
    %s2 = scf.if %high -> f64 {
      %j = arith.addi %i, %c1 : index
      %w = memref.load %x[%j] : memref<5xf64>
      %p = arith.mulf %w, %a : f64
      %q = arith.subf %s1, %p : f64
      scf.yield %q : f64
    } else {
      scf.yield %s1 : f64
    }
    memref.store %s2, %y[%i] : memref<5xf64>
  }
  return
}
func.func private @dot(%x: memref<5xf64>, %y: memref<5xf64>) -> f64 {
  %zero = arith.constant 0.0 : f64
  %s = affine.for %i = 0 to 5 iter_args(%acc = %zero) -> (f64) {
    %u = affine.load %x[%i] : memref<5xf64>
    %v = affine.load %y[%i] : memref<5xf64>
    %n = math.fma %u, %v, %acc : f64
    affine.yield %n : f64
  }
  return %s : f64
}
func.func private @axpy(%a: f64, %x: memref<5xf64>, %b: f64, %y: memref<5xf64>) {
  affine.for %i = 0 to 5 {
    %u = affine.load %x[%i] : memref<5xf64>
    %v = affine.load %y[%i] : memref<5xf64>
    %p = arith.mulf %a, %u : f64
    %q = arith.mulf %b, %v : f64
    %s = arith.addf %p, %q : f64
    affine.store %s, %y[%i] : memref<5xf64>
  }
  return
}
func.func @f(%a: f64, %b: f64) -> f64 {
  %zero = arith.constant 0.0 : f64
  %one = arith.constant 1.0 : f64
  %small = arith.constant 1.0e-18 : f64
  %x = memref.alloca() : memref<5xf64>
  %r = memref.alloca() : memref<5xf64>
  %p = memref.alloca() : memref<5xf64>
  %q = memref.alloca() : memref<5xf64>
  linalg.fill ins(%zero : f64) outs(%x : memref<5xf64>)
  affine.for %i = 0 to 5 {
    %i64 = arith.index_cast %i : index to i64
    %f = arith.sitofp %i64 : i64 to f64
    %t = arith.mulf %f, %b : f64
    %s = math.cos %t : f64
    affine.store %s, %r[%i] : memref<5xf64>
  }
  memref.copy %r, %p : memref<5xf64> to memref<5xf64>
  %rr = call @dot(%r, %r) : (memref<5xf64>, memref<5xf64>) -> f64
  %e = scf.while (%rho = %rr) : (f64) -> f64 {
    %go = arith.cmpf ogt, %rho, %small : f64
    scf.condition(%go) %rho : f64
  } do {
  ^bb0(%rho: f64):
    func.call @apply(%a, %p, %q) : (f64, memref<5xf64>, memref<5xf64>) -> ()
    %pq = func.call @dot(%p, %q) : (memref<5xf64>, memref<5xf64>) -> f64
    %alpha = arith.divf %rho, %pq : f64
    %minus = arith.negf %alpha : f64
    func.call @axpy(%alpha, %p, %one, %x) : (f64, memref<5xf64>, f64, memref<5xf64>) -> ()
    func.call @axpy(%minus, %q, %one, %r) : (f64, memref<5xf64>, f64, memref<5xf64>) -> ()
    %new = func.call @dot(%r, %r) : (memref<5xf64>, memref<5xf64>) -> f64
    %beta = arith.divf %new, %rho : f64
    func.call @axpy(%one, %r, %beta, %p) : (f64, memref<5xf64>, f64, memref<5xf64>) -> ()
    scf.yield %new : f64
  }
  %n = call @dot(%x, %x) : (memref<5xf64>, memref<5xf64>) -> f64
  return %n : f64
}
