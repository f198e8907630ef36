// INPUT: 0.4 7
// INPUT: 1.2 3
#lb = affine_map<()[s0] -> (0, s0 - 4)>
#ub = affine_map<(d0)[s0] -> (d0 + 3, s0)>
func.func @f(%x: f64, %n: index) -> f64 {
  %m = memref.alloc(%n) : memref<?xf64>
  affine.for %i = 0 to %n {
    %k = arith.index_cast %i : index to i64
    %v = arith.sitofp %k : i64 to f64
    %w = arith.mulf %v, %x : f64
    affine.store %w, %m[%i] : memref<?xf64>
  }
  %r = affine.for %i = max #lb()[%n] to %n iter_args(%a = %x) -> (f64) {
    %b = affine.for %j = affine_map<(d0) -> (d0)>(%i) to min #ub(%i)[%n] step 2 iter_args(%c = %a) -> (f64) {
      %v = affine.load %m[%j] : memref<?xf64>
      %p = arith.mulf %c, %v : f64
      %q = math.sin %p : f64
      affine.yield %q : f64
    }
    %s = arith.addf %a, %b : f64
    affine.yield %s : f64
  }
  return %r : f64
}
