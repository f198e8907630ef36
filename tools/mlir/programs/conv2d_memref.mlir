// MOST: 5, clang unrolls the loops of the function; 3.9 times its time
// INPUT: 0.4 -0.9
#in = affine_map<(i, j, p, q) -> (i + p, j + q)>
#ker = affine_map<(i, j, p, q) -> (p, q)>
#out = affine_map<(i, j, p, q) -> (i, j)>
func.func @f(%x: f64, %y: f64) -> f64 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %c6 = arith.constant 6 : index
  %zero = arith.constant 0.0 : f64
  %img = memref.alloc() : memref<6x6xf64>
  %ker = memref.alloc() : memref<3x3xf64>
  %out = memref.alloc() : memref<4x4xf64>
  linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} outs(%img : memref<6x6xf64>) {
  ^bb0(%o: f64):
    %i = linalg.index 0 : index
    %j = linalg.index 1 : index
    %p = arith.muli %i, %j : index
    %k = arith.index_cast %p : index to i64
    %g = arith.sitofp %k : i64 to f64
    %v = arith.mulf %g, %x : f64
    %s = math.sin %v : f64
    linalg.yield %s : f64
  }
  linalg.fill ins(%y : f64) outs(%ker : memref<3x3xf64>)
  memref.store %x, %ker[%c1, %c1] : memref<3x3xf64>
  linalg.fill ins(%zero : f64) outs(%out : memref<4x4xf64>)
  linalg.generic {indexing_maps = [#in, #ker, #out], iterator_types = ["parallel", "parallel", "reduction", "reduction"]} ins(%img, %ker : memref<6x6xf64>, memref<3x3xf64>) outs(%out : memref<4x4xf64>) {
  ^bb0(%a: f64, %b: f64, %c: f64):
    %m = arith.mulf %a, %b : f64
    %n = arith.addf %c, %m : f64
    linalg.yield %n : f64
  }
  %r = memref.load %out[%c1, %c3] : memref<4x4xf64>
  memref.dealloc %img : memref<6x6xf64>
  memref.dealloc %ker : memref<3x3xf64>
  memref.dealloc %out : memref<4x4xf64>
  return %r : f64
}
