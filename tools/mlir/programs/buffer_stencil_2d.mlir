// INPUT: 0.4 3
func.func @f(%x: f64, %n: index) -> f64 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c5 = arith.constant 5 : index
  %c4 = arith.constant 4 : index
  %q = arith.constant 0.25 : f64
  %z = arith.constant 0.0 : f64
  %u = memref.alloc() : memref<5x5xf64>
  %v = memref.alloc() : memref<5x5xf64>
  scf.for %i = %c0 to %c5 step %c1 {
    scf.for %j = %c0 to %c5 step %c1 {
      %b = arith.cmpi eq, %j, %c0 : index
      %w = scf.if %b -> f64 {
        scf.yield %x : f64
      } else {
        scf.yield %z : f64
      }
      memref.store %w, %u[%i, %j] : memref<5x5xf64>
      memref.store %w, %v[%i, %j] : memref<5x5xf64>
    }
  }
  scf.for %t = %c0 to %n step %c1 {
    scf.for %i = %c1 to %c4 step %c1 {
      scf.for %j = %c1 to %c4 step %c1 {
        %im = arith.subi %i, %c1 : index
        %ip = arith.addi %i, %c1 : index
        %jm = arith.subi %j, %c1 : index
        %jp = arith.addi %j, %c1 : index
        %a0 = memref.load %u[%im, %j] : memref<5x5xf64>
        %a1 = memref.load %u[%ip, %j] : memref<5x5xf64>
        %a2 = memref.load %u[%i, %jm] : memref<5x5xf64>
        %a3 = memref.load %u[%i, %jp] : memref<5x5xf64>
        %s0 = arith.addf %a0, %a1 : f64
        %s1 = arith.addf %a2, %a3 : f64
        %s2 = arith.mulf %s0, %s1 : f64
        %s3 = arith.addf %s2, %s1 : f64
        %s = arith.mulf %s3, %q : f64
        memref.store %s, %v[%i, %j] : memref<5x5xf64>
      }
    }
    memref.copy %v, %u : memref<5x5xf64> to memref<5x5xf64>
  }
  %r = memref.load %u[%c1, %c1] : memref<5x5xf64>
  memref.dealloc %u : memref<5x5xf64>
  memref.dealloc %v : memref<5x5xf64>
  return %r : f64
}
