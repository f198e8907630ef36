// INPUT: 0.7 0.2
// INPUT: -1.1 0.4
// A linear recurrence over the rows of a tensor, by slices that are taken out and put back; a reduction of it by linalg.generic.
#id = affine_map<(i, j) -> (i, j)>
#row = affine_map<(i, j) -> (i)>
func.func @f(%a: f64, %b: f64) -> f64 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c5 = arith.constant 5 : index
  %zero = arith.constant 0.0 : f64
  %empty = tensor.empty() : tensor<5x3xf64>
  %t = linalg.generic {indexing_maps = [#id], iterator_types = ["parallel", "parallel"]} outs(%empty : tensor<5x3xf64>) {
  ^bb0(%o: f64):
    %i = linalg.index 0 : index
    %j = linalg.index 1 : index
    %s = arith.addi %i, %j : index
    %s64 = arith.index_cast %s : index to i64
    %f = arith.sitofp %s64 : i64 to f64
    %p = arith.mulf %f, %a : f64
    %q = math.sin %p : f64
    linalg.yield %q : f64
  } -> tensor<5x3xf64>
  %bs = tensor.splat %b : tensor<1x3xf64>
  %scan = scf.for %i = %c1 to %c5 step %c1 iter_args(%u = %t) -> (tensor<5x3xf64>) {
    %before = arith.subi %i, %c1 : index
    %x = tensor.extract_slice %u[%before, 0] [1, 3] [1, 1] : tensor<5x3xf64> to tensor<1x3xf64>
    %y = tensor.extract_slice %u[%i, 0] [1, 3] [1, 1] : tensor<5x3xf64> to tensor<1x3xf64>
    %xb = arith.mulf %x, %bs : tensor<1x3xf64>
    %z = arith.addf %xb, %y : tensor<1x3xf64>
    %w = math.tanh %z : tensor<1x3xf64>
    %v = tensor.insert_slice %w into %u[%i, 0] [1, 3] [1, 1] : tensor<1x3xf64> into tensor<5x3xf64>
    scf.yield %v : tensor<5x3xf64>
  }
  %e5 = tensor.empty() : tensor<5xf64>
  %init = linalg.fill ins(%zero : f64) outs(%e5 : tensor<5xf64>) -> tensor<5xf64>
  %rows = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]} ins(%scan : tensor<5x3xf64>) outs(%init : tensor<5xf64>) {
  ^bb0(%in: f64, %out: f64):
    %sq = arith.mulf %in, %in : f64
    %add = arith.addf %out, %sq : f64
    linalg.yield %add : f64
  } -> tensor<5xf64>
  %c3 = arith.constant 3 : index
  %c4 = arith.constant 4 : index
  %m = tensor.extract %rows[%c3] : tensor<5xf64>
  %n = tensor.extract %rows[%c4] : tensor<5xf64>
  %r = arith.mulf %m, %n : f64
  return %r : f64
}
