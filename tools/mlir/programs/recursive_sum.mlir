// INPUT: 0.9 1.3
func.func private @sum(%m: memref<8xf64>, %lo: index, %hi: index) -> f64 {
  %c1 = arith.constant 1 : index
  %n = arith.subi %hi, %lo : index
  %one = arith.cmpi eq, %n, %c1 : index
  %r = scf.if %one -> (f64) {
    %v = memref.load %m[%lo] : memref<8xf64>
    %s = math.sin %v : f64
    scf.yield %s : f64
  } else {
    %s = arith.addi %lo, %hi : index
    %mid = arith.shrui %s, %c1 : index
    %a = func.call @sum(%m, %lo, %mid) : (memref<8xf64>, index, index) -> f64
    %b = func.call @sum(%m, %mid, %hi) : (memref<8xf64>, index, index) -> f64
    %c = arith.addf %a, %b : f64
    scf.yield %c : f64
  }
  return %r : f64
}
func.func @f(%x: f64, %y: f64) -> f64 {
  %c0 = arith.constant 0 : index
  %c8 = arith.constant 8 : index
  %c3 = arith.constant 3 : index
  %m = memref.alloc() : memref<8xf64>
  linalg.fill ins(%x : f64) outs(%m : memref<8xf64>)
  memref.store %y, %m[%c3] : memref<8xf64>
  %r = call @sum(%m, %c0, %c8) : (memref<8xf64>, index, index) -> f64
  memref.dealloc %m : memref<8xf64>
  return %r : f64
}
