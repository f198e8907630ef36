// INPUT: 0.7 -0.3
#set = affine_set<(d0)[s0] : (d0 - 2 >= 0, s0 - d0 - 2 >= 0)>
func.func @f(%x: f64, %y: f64) -> f64 {
  %zero = arith.constant 0.0 : f64
  %c7 = arith.constant 7 : index
  %r = affine.for %i = 0 to 8 step 2 iter_args(%acc = %zero) -> (f64) {
    %v = affine.if #set(%i)[%c7] -> f64 {
      %p = arith.mulf %x, %acc : f64
      affine.yield %p : f64
    } else {
      %p = arith.addf %y, %acc : f64
      affine.yield %p : f64
    }
    %j = affine.apply affine_map<(d0) -> (d0 floordiv 3 + d0 mod 2)>(%i)
    %k = arith.index_cast %j : index to i64
    %g = arith.sitofp %k : i64 to f64
    %s = arith.addf %v, %g : f64
    affine.yield %s : f64
  }
  return %r : f64
}
