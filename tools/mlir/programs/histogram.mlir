// INPUT: 0.37 1.3
// Weights are added to the bin of each sample; bins are found by a float to integer conversion.
func.func @f(%x: f64, %w: f64) -> f64 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c20 = arith.constant 20 : index
  %zero = arith.constant 0.0 : f64
  %bins = memref.alloc() : memref<4xf64>
  linalg.fill ins(%zero : f64) outs(%bins : memref<4xf64>)
  %four = arith.constant 3.99 : f64
  scf.for %i = %c0 to %c20 step %c1 {
    %k = arith.index_cast %i : index to i64
    %g = arith.sitofp %k : i64 to f64
    %a = arith.mulf %g, %x : f64
    %s = math.sin %a : f64
    %q = arith.mulf %s, %s : f64
    %h = arith.mulf %q, %four : f64
    %bin = arith.fptosi %h : f64 to i32
    %at = arith.index_cast %bin : i32 to index
    %old = memref.load %bins[%at] : memref<4xf64>
    %t = arith.mulf %q, %w : f64
    %new = arith.addf %old, %t : f64
    memref.store %new, %bins[%at] : memref<4xf64>
  }
  %c2 = arith.constant 2 : index
  %r0 = memref.load %bins[%c0] : memref<4xf64>
  %r2 = memref.load %bins[%c2] : memref<4xf64>
  %r = arith.mulf %r0, %r2 : f64
  memref.dealloc %bins : memref<4xf64>
  return %r : f64
}
