// INPUT: 0.7 0.2
// INPUT: -1.1 0.4
// Gauss-Seidel sweeps over a grid until the largest change is small, or there were enough.
func.func @f(%a: f64, %b: f64) -> f64 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c5 = arith.constant 5 : index
  %most = arith.constant 60 : i32
  %i0 = arith.constant 0 : i32
  %i1 = arith.constant 1 : i32
  %tolerance = arith.constant 1.0e-11 : f64
  %zero = arith.constant 0.0 : f64
  %big = arith.constant 1.0 : f64
  %quarter = arith.constant 0.2 : f64
  %u = memref.alloc() : memref<6x6xf64>
  linalg.fill ins(%zero : f64) outs(%u : memref<6x6xf64>)
  scf.for %i = %c0 to %c5 step %c1 {
    memref.store %a, %u[%i, %c0] : memref<6x6xf64>
    memref.store %b, %u[%c5, %i] : memref<6x6xf64>
  }
  %r:2 = scf.while (%change = %big, %k = %i0) : (f64, i32) -> (f64, i32) {
    %large = arith.cmpf ogt, %change, %tolerance : f64
    %few = arith.cmpi slt, %k, %most : i32
    %go = arith.andi %large, %few : i1
    scf.condition(%go) %change, %k : f64, i32
  } do {
  ^bb0(%change: f64, %k: i32):
    %new = scf.for %i = %c1 to %c5 step %c1 iter_args(%outer = %zero) -> (f64) {
      %row = scf.for %j = %c1 to %c5 step %c1 iter_args(%m = %outer) -> (f64) {
        %im = arith.subi %i, %c1 : index
        %ip = arith.addi %i, %c1 : index
        %jm = arith.subi %j, %c1 : index
        %jp = arith.addi %j, %c1 : index
        %n = memref.load %u[%im, %j] : memref<6x6xf64>
        %s = memref.load %u[%ip, %j] : memref<6x6xf64>
        %w = memref.load %u[%i, %jm] : memref<6x6xf64>
        %e = memref.load %u[%i, %jp] : memref<6x6xf64>
        %ns = arith.addf %n, %s : f64
        %we = arith.addf %w, %e : f64
        %all = arith.addf %ns, %we : f64
        %old = memref.load %u[%i, %j] : memref<6x6xf64>
        %tanh = math.tanh %old : f64
        %src = arith.mulf %tanh, %a : f64
        %tot = arith.addf %all, %src : f64
        %v = arith.mulf %tot, %quarter : f64
        memref.store %v, %u[%i, %j] : memref<6x6xf64>
        %d = arith.subf %v, %old : f64
        %ad = math.absf %d : f64
        %mm = arith.maximumf %m, %ad : f64
        scf.yield %mm : f64
      }
      scf.yield %row : f64
    }
    %k1 = arith.addi %k, %i1 : i32
    scf.yield %new, %k1 : f64, i32
  }
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %x = memref.load %u[%c2, %c3] : memref<6x6xf64>
  %y = memref.load %u[%c3, %c1] : memref<6x6xf64>
  %p = arith.mulf %x, %y : f64
  memref.dealloc %u : memref<6x6xf64>
  return %p : f64
}
