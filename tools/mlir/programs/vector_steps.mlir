// MOST: 45, 244 instructions: vectors are tensors in the gradient, which bufferization puts into buffers
// INPUT: 0.3 5
// INPUT: -1.2 4
func.func @f(%x: f64, %n: index) -> f64 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %m = memref.alloc() : memref<16xf64>
  %z = arith.constant 0.5 : f64
  scf.for %i = %c0 to %n step %c1 {
    memref.store %z, %m[%i] : memref<16xf64>
  }
  %s = scf.for %i = %c0 to %c4 step %c1 iter_args(%a = %x) -> (f64) {
    %v = vector.load %m[%c0] : memref<16xf64>, vector<4xf64>
    %b = vector.broadcast %x : f64 to vector<4xf64>
    %p = arith.mulf %v, %b : vector<4xf64>
    vector.store %p, %m[%c0] : memref<16xf64>, vector<4xf64>
    %w = vector.load %m[%c0] : memref<16xf64>, vector<4xf64>
    %q = arith.addf %w, %v : vector<4xf64>
    %e = vector.extract %q[2] : f64 from vector<4xf64>
    %r = vector.reduction <add>, %q : vector<4xf64> into f64
    %t = arith.addf %e, %r : f64
    %u = arith.addf %t, %a : f64
    scf.yield %u : f64
  }
  %l = affine.load %m[3] : memref<16xf64>
  affine.store %s, %m[3] : memref<16xf64>
  %k = affine.load %m[3] : memref<16xf64>
  %y = arith.mulf %k, %l : f64
  memref.dealloc %m : memref<16xf64>
  return %y : f64
}
