// MOST: 8, 73 instructions: clang computes on registers what the gradient keeps in buffers
// INPUT: 2.7 0.5
func.func @f(%x: f64, %y: f64) -> f64 {
  %c2 = arith.constant 2 : index
  %m = memref.alloc() : memref<4x2xf64>
  scf.forall (%i, %j) in (4, 2) {
    %s = arith.addi %i, %j : index
    %k = arith.index_cast %s : index to i64
    %v = arith.sitofp %k : i64 to f64
    %w = arith.mulf %v, %x : f64
    memref.store %w, %m[%i, %j] : memref<4x2xf64>
  }
  scf.forall (%i) = (1) to (4) step (2) {
    %c0 = arith.constant 0 : index
    %v = memref.load %m[%i, %c0] : memref<4x2xf64>
    %w = math.exp %v : f64
    memref.store %w, %m[%i, %c0] : memref<4x2xf64>
  }
  %c0 = arith.constant 0 : index
  %c3 = arith.constant 3 : index
  %a = memref.load %m[%c3, %c0] : memref<4x2xf64>
  %b = memref.load %m[%c2, %c0] : memref<4x2xf64>
  %r = arith.divf %b, %a : f64
  %t = arith.mulf %r, %y : f64
  return %t : f64
}
