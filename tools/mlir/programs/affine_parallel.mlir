// INPUT: 0.7 -0.4
func.func @f(%x: f64, %y: f64) -> f64 {
  %r = "affine.parallel"() <{lowerBoundsMap = affine_map<() -> (0, 1)>, lowerBoundsGroups = dense<1> : tensor<2xi32>, upperBoundsMap = affine_map<() -> (3, 5)>, upperBoundsGroups = dense<1> : tensor<2xi32>, steps = [1, 2], reductions = [0]}> ({
  ^bb0(%i: index, %j: index):
    %m = affine.apply affine_map<(d0, d1) -> (d0 * 3 - d1)>(%i, %j)
    %k = arith.index_cast %m : index to i64
    %g = arith.sitofp %k : i64 to f64
    %v = arith.mulf %g, %x : f64
    %s = math.sin %v : f64
    "affine.yield"(%s) : (f64) -> ()
  }) : () -> f64
  %z = arith.mulf %r, %y : f64
  return %z : f64
}
