// INPUT: 0.7 0.2
// Explicit heat equation with two buffers, the handles swapped through iter_args.
func.func @f(%x: f64, %y: f64) -> f64 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %c9 = arith.constant 9 : index
  %c10 = arith.constant 10 : index
  %c4 = arith.constant 4 : index
  %a = memref.alloc() : memref<10xf64>
  %b = memref.alloc() : memref<10xf64>
  scf.for %i = %c0 to %c10 step %c1 {
    %k = arith.index_cast %i : index to i32
    %g = arith.sitofp %k : i32 to f64
    %v = arith.mulf %g, %x : f64
    %w = math.sin %v : f64
    memref.store %w, %a[%i] : memref<10xf64>
    memref.store %w, %b[%i] : memref<10xf64>
  }
  %last, %other = scf.for %t = %c0 to %c8 step %c1 iter_args(%old = %a, %new = %b) -> (memref<10xf64>, memref<10xf64>) {
    scf.for %i = %c1 to %c9 step %c1 {
      %l = arith.subi %i, %c1 : index
      %r = arith.addi %i, %c1 : index
      %vl = memref.load %old[%l] : memref<10xf64>
      %vc = memref.load %old[%i] : memref<10xf64>
      %vr = memref.load %old[%r] : memref<10xf64>
      %s = arith.addf %vl, %vr : f64
      %two = arith.constant 2.0 : f64
      %d = arith.mulf %two, %vc : f64
      %lap = arith.subf %s, %d : f64
      %u = arith.mulf %lap, %y : f64
      %n = arith.addf %vc, %u : f64
      memref.store %n, %new[%i] : memref<10xf64>
    }
    scf.yield %new, %old : memref<10xf64>, memref<10xf64>
  }
  %res = memref.load %last[%c4] : memref<10xf64>
  memref.dealloc %a : memref<10xf64>
  memref.dealloc %b : memref<10xf64>
  return %res : f64
}
