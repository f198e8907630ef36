// INPUT: 0.3 -0.8
// 8 × 8 matrices, multiplied by blocks of 4 × 4.
func.func private @fill(%m: memref<8x8xf64>, %s: f64) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  scf.for %i = %c0 to %c8 step %c1 {
    scf.for %j = %c0 to %c8 step %c1 {
      %p = arith.muli %i, %c8 : index
      %q = arith.addi %p, %j : index
      %k = arith.index_castui %q : index to i64
      %g = arith.uitofp %k : i64 to f64
      %v = arith.mulf %g, %s : f64
      %w = math.cos %v : f64
      memref.store %w, %m[%i, %j] : memref<8x8xf64>
    }
  }
  return
}
func.func private @multiply(%a: memref<8x8xf64>, %b: memref<8x8xf64>, %c: memref<8x8xf64>) {
  affine.for %ii = 0 to 8 step 4 {
    affine.for %jj = 0 to 8 step 4 {
      affine.for %kk = 0 to 8 step 4 {
        affine.for %i = affine_map<(d0) -> (d0)>(%ii) to affine_map<(d0) -> (d0 + 4)>(%ii) {
          affine.for %j = affine_map<(d0) -> (d0)>(%jj) to affine_map<(d0) -> (d0 + 4)>(%jj) {
            %init = affine.load %c[%i, %j] : memref<8x8xf64>
            %sum = affine.for %k = affine_map<(d0) -> (d0)>(%kk) to affine_map<(d0) -> (d0 + 4)>(%kk) iter_args(%acc = %init) -> (f64) {
              %u = affine.load %a[%i, %k] : memref<8x8xf64>
              %v = affine.load %b[%k, %j] : memref<8x8xf64>
              %p = arith.mulf %u, %v : f64
              %n = arith.addf %acc, %p : f64
              affine.yield %n : f64
            }
            affine.store %sum, %c[%i, %j] : memref<8x8xf64>
          }
        }
      }
    }
  }
  return
}
func.func @f(%x: f64, %y: f64) -> f64 {
  %zero = arith.constant 0.0 : f64
  %a = memref.alloc() : memref<8x8xf64>
  %b = memref.alloc() : memref<8x8xf64>
  %c = memref.alloc() : memref<8x8xf64>
  linalg.fill ins(%zero : f64) outs(%c : memref<8x8xf64>)
  call @fill(%a, %x) : (memref<8x8xf64>, f64) -> ()
  call @fill(%b, %y) : (memref<8x8xf64>, f64) -> ()
  call @multiply(%a, %b, %c) : (memref<8x8xf64>, memref<8x8xf64>, memref<8x8xf64>) -> ()
  %tr = affine.for %i = 0 to 8 iter_args(%s = %zero) -> (f64) {
    %v = affine.load %c[%i, 7 - %i] : memref<8x8xf64>
    %n = arith.addf %s, %v : f64
    affine.yield %n : f64
  }
  memref.dealloc %a : memref<8x8xf64>
  memref.dealloc %b : memref<8x8xf64>
  memref.dealloc %c : memref<8x8xf64>
  return %tr : f64
}
