// MOST: 6.5, clang unrolls the loops of the function; 3.3 times its time
// INPUT: 0.7 0.2
// INPUT: -1.1 0.4
// A fast Fourier transform of eight numbers in place, by butterflies; then the power of two of them.
func.func private @butterflies(%re: memref<8xf64>, %im: memref<8xf64>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c8 = arith.constant 8 : index
  %turn = arith.constant -3.141592653589793 : f64
  %end = scf.while (%half = %c1) : (index) -> index {
    %more = arith.cmpi ult, %half, %c8 : index
    scf.condition(%more) %half : index
  } do {
  ^bb0(%half: index):
    %size = arith.muli %half, %c2 : index
    %h64 = arith.index_cast %half : index to i64
    %hf = arith.sitofp %h64 : i64 to f64
    %angle = arith.divf %turn, %hf : f64
    scf.for %block = %c0 to %c8 step %size {
      scf.for %k = %c0 to %half step %c1 {
        %k64 = arith.index_cast %k : index to i64
        %kf = arith.sitofp %k64 : i64 to f64
        %phi = arith.mulf %angle, %kf : f64
        %wr = math.cos %phi : f64
        %wi = math.sin %phi : f64
        %i = arith.addi %block, %k : index
        %j = arith.addi %i, %half : index
        %ar = memref.load %re[%i] : memref<8xf64>
        %ai = memref.load %im[%i] : memref<8xf64>
        %br = memref.load %re[%j] : memref<8xf64>
        %bi = memref.load %im[%j] : memref<8xf64>
        %p = arith.mulf %br, %wr : f64
        %q = arith.mulf %bi, %wi : f64
        %tr = arith.subf %p, %q : f64
        %r = arith.mulf %br, %wi : f64
        %s = arith.mulf %bi, %wr : f64
        %ti = arith.addf %r, %s : f64
        %xr = arith.addf %ar, %tr : f64
        %xi = arith.addf %ai, %ti : f64
        %yr = arith.subf %ar, %tr : f64
        %yi = arith.subf %ai, %ti : f64
        memref.store %xr, %re[%i] : memref<8xf64>
        memref.store %xi, %im[%i] : memref<8xf64>
        memref.store %yr, %re[%j] : memref<8xf64>
        memref.store %yi, %im[%j] : memref<8xf64>
      }
    }
    scf.yield %size : index
  }
  return
}
func.func @f(%a: f64, %b: f64) -> f64 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %c5 = arith.constant 5 : index
  %c8 = arith.constant 8 : index
  %zero = arith.constant 0.0 : f64
  %re = memref.alloca() : memref<8xf64>
  %im = memref.alloca() : memref<8xf64>
  linalg.fill ins(%zero : f64) outs(%im : memref<8xf64>)
  %last = scf.for %i = %c0 to %c8 step %c1 iter_args(%v = %a) -> (f64) {
    memref.store %v, %re[%i] : memref<8xf64>
    %w = arith.mulf %v, %b : f64
    %s = math.sin %w : f64
    %u = arith.addf %s, %a : f64
    scf.yield %u : f64
  }
  call @butterflies(%re, %im) : (memref<8xf64>, memref<8xf64>) -> ()
  %x = memref.load %re[%c3] : memref<8xf64>
  %y = memref.load %im[%c5] : memref<8xf64>
  %xx = arith.mulf %x, %x : f64
  %yy = arith.mulf %y, %y : f64
  %p = arith.addf %xx, %yy : f64
  return %p : f64
}
