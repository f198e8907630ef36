// INPUT: 0.7 0.2
// INPUT: -1.1 0.4
// Steps of k-means with two centres over nine points: assignment, counts, new centres.
func.func @f(%a: f64, %b: f64) -> f64 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %c9 = arith.constant 9 : index
  %zero = arith.constant 0.0 : f64
  %one = arith.constant 1.0 : f64
  %points = memref.alloc() : memref<9xf64>
  %centres = memref.alloc() : memref<2xf64>
  %sums = memref.alloc() : memref<2xf64>
  %counts = memref.alloc() : memref<2xi32>
  scf.parallel (%i) = (%c0) to (%c9) step (%c1) {
    %i64 = arith.index_cast %i : index to i64
    %x = arith.sitofp %i64 : i64 to f64
    %p = arith.mulf %x, %a : f64
    %s = math.sin %p : f64
    %q = arith.addf %s, %b : f64
    memref.store %q, %points[%i] : memref<9xf64>
    scf.reduce
  }
  memref.store %a, %centres[%c0] : memref<2xf64>
  %nb = arith.subf %b, %one : f64
  memref.store %nb, %centres[%c1] : memref<2xf64>
  %i0 = arith.constant 0 : i32
  %i1 = arith.constant 1 : i32
  scf.for %t = %c0 to %c3 step %c1 {
    linalg.fill ins(%zero : f64) outs(%sums : memref<2xf64>)
    linalg.fill ins(%i0 : i32) outs(%counts : memref<2xi32>)
    scf.for %i = %c0 to %c9 step %c1 {
      %p = memref.load %points[%i] : memref<9xf64>
      %u = memref.load %centres[%c0] : memref<2xf64>
      %v = memref.load %centres[%c1] : memref<2xf64>
      %du = arith.subf %p, %u : f64
      %dv = arith.subf %p, %v : f64
      %au = math.absf %du : f64
      %av = math.absf %dv : f64
      %near = arith.cmpf ole, %au, %av : f64
      %k = arith.select %near, %c0, %c1 : index
      %s = memref.load %sums[%k] : memref<2xf64>
      %n = memref.load %counts[%k] : memref<2xi32>
      %s1 = arith.addf %s, %p : f64
      %n1 = arith.addi %n, %i1 : i32
      memref.store %s1, %sums[%k] : memref<2xf64>
      memref.store %n1, %counts[%k] : memref<2xi32>
    }
    scf.for %k = %c0 to %c2 step %c1 {
      %n = memref.load %counts[%k] : memref<2xi32>
      %some = arith.cmpi sgt, %n, %i0 : i32
      scf.if %some {
        %nf = arith.sitofp %n : i32 to f64
        %s = memref.load %sums[%k] : memref<2xf64>
        %c = arith.divf %s, %nf : f64
        memref.store %c, %centres[%k] : memref<2xf64>
      }
    }
  }
  %u = memref.load %centres[%c0] : memref<2xf64>
  %v = memref.load %centres[%c1] : memref<2xf64>
  %d = arith.subf %u, %v : f64
  %q = arith.mulf %d, %d : f64
  memref.dealloc %points : memref<9xf64>
  memref.dealloc %centres : memref<2xf64>
  memref.dealloc %sums : memref<2xf64>
  memref.dealloc %counts : memref<2xi32>
  return %q : f64
}
