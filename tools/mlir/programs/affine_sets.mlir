// INPUT: 0.4 0.9
#set = affine_set<(d0, d1) : (d0 - d1 >= 0, d0 + d1 - 3 >= 0)>
#eq = affine_set<(d0)[s0] : (d0 mod 2 - s0 == 0)>
func.func @f(%x: f64, %y: f64) -> f64 {
  %c1 = arith.constant 1 : index
  %m = memref.alloc() : memref<5x5xf64>
  affine.for %i = 0 to 5 {
    affine.for %j = 0 to 5 {
      affine.if #set(%i, %j) {
        affine.store %x, %m[%i, %j] : memref<5x5xf64>
      } else {
        affine.store %y, %m[%i, %j] : memref<5x5xf64>
      }
    }
  }
  %one = arith.constant 1.0 : f64
  %r = affine.for %i = 0 to 5 iter_args(%a = %one) -> (f64) {
    %v = affine.if #eq(%i)[%c1] -> f64 {
      %1 = affine.load %m[%i, 4 - %i] : memref<5x5xf64>
      affine.yield %1 : f64
    } else {
      %1 = affine.load %m[4 - %i, %i] : memref<5x5xf64>
      %2 = arith.mulf %1, %1 : f64
      affine.yield %2 : f64
    }
    %s = arith.mulf %a, %v : f64
    %t = math.exp %s : f64
    affine.yield %t : f64
  }
  return %r : f64
}
