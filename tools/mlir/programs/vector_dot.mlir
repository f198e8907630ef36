// INPUT: 0.7 0.2
// INPUT: -1.1 0.4
// A matrix times a vector by rows of vectors, squared norms by masks and shuffles.
func.func private @fill(%m: memref<4x8xf64>, %a: f64, %b: f64) {
  affine.for %i = 0 to 4 {
    affine.for %j = 0 to 8 {
      %k = affine.apply affine_map<(d0, d1) -> (d0 * 3 + d1 * 2 + 1)>(%i, %j)
      %w = arith.index_cast %k : index to i64
      %f = arith.sitofp %w : i64 to f64
      %p = arith.mulf %f, %a : f64
      %s = math.sin %p : f64
      %q = arith.addf %s, %b : f64
      affine.store %q, %m[%i, %j] : memref<4x8xf64>
    }
  }
  return
}
func.func @f(%a: f64, %b: f64) -> f64 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %zero = arith.constant 0.0 : f64
  %m = memref.alloc() : memref<4x8xf64>
  call @fill(%m, %a, %b) : (memref<4x8xf64>, f64, f64) -> ()
  %x = vector.broadcast %b : f64 to vector<8xf64>
  %one = arith.constant dense<[1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0]> : vector<8xf64>
  %r:2 = scf.for %i = %c0 to %c4 step %c1 iter_args(%v = %x, %n = %zero) -> (vector<8xf64>, f64) {
    %row = vector.load %m[%i, %c0] : memref<4x8xf64>, vector<8xf64>
    %p = vector.fma %row, %v, %one : vector<8xf64>
    %s = vector.shuffle %p, %row [0, 8, 1, 9, 2, 10, 3, 11] : vector<8xf64>, vector<8xf64>
    %d = vector.reduction <add>, %s : vector<8xf64> into f64
    %g = math.tanh %s : vector<8xf64>
    %t = arith.addf %n, %d : f64
    scf.yield %g, %t : vector<8xf64>, f64
  }
  %e = vector.extract %r#0[3] : f64 from vector<8xf64>
  %k = vector.insert %a, %r#0[5] : f64 into vector<8xf64>
  %half = vector.extract_strided_slice %k {offsets = [4], sizes = [4], strides = [1]} : vector<8xf64> to vector<4xf64>
  %c = vector.reduction <mul>, %half : vector<4xf64> into f64
  %y = arith.mulf %e, %r#1 : f64
  %z = arith.addf %y, %c : f64
  memref.dealloc %m : memref<4x8xf64>
  return %z : f64
}
