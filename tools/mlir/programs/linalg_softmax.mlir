// INPUT: 0.3 -0.2
#id = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>
func.func @f(%x: f64, %y: f64) -> f64 {
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %zero = arith.constant 0.0 : f64
  %ninf = arith.constant -1.0e+308 : f64
  %t = tensor.generate {
  ^bb0(%i: index, %j: index):
    %p = arith.muli %i, %j : index
    %k = arith.index_cast %p : index to i64
    %g = arith.sitofp %k : i64 to f64
    %v = arith.mulf %g, %x : f64
    %w = arith.addf %v, %y : f64
    %s = math.sin %w : f64
    tensor.yield %s : f64
  } : tensor<3x4xf64>
  %e = tensor.empty() : tensor<3xf64>
  %f0 = linalg.fill ins(%ninf : f64) outs(%e : tensor<3xf64>) -> tensor<3xf64>
  %max = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]} ins(%t : tensor<3x4xf64>) outs(%f0 : tensor<3xf64>) {
  ^bb0(%a: f64, %b: f64):
    %m = arith.maximumf %a, %b : f64
    linalg.yield %m : f64
  } -> tensor<3xf64>
  %e2 = tensor.empty() : tensor<3x4xf64>
  %ex = linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel"]} ins(%t, %max : tensor<3x4xf64>, tensor<3xf64>) outs(%e2 : tensor<3x4xf64>) {
  ^bb0(%a: f64, %b: f64, %o: f64):
    %d = arith.subf %a, %b : f64
    %x1 = math.exp %d : f64
    linalg.yield %x1 : f64
  } -> tensor<3x4xf64>
  %f1 = linalg.fill ins(%zero : f64) outs(%e : tensor<3xf64>) -> tensor<3xf64>
  %sum = linalg.reduce ins(%ex : tensor<3x4xf64>) outs(%f1 : tensor<3xf64>) dimensions = [1]
    (%in: f64, %acc: f64) {
      %0 = arith.addf %in, %acc : f64
      linalg.yield %0 : f64
    }
  %br = linalg.broadcast ins(%sum : tensor<3xf64>) outs(%e2 : tensor<3x4xf64>) dimensions = [1]
  %sm = linalg.div ins(%ex, %br : tensor<3x4xf64>, tensor<3x4xf64>) outs(%e2 : tensor<3x4xf64>) -> tensor<3x4xf64>
  %r = tensor.extract %sm[%c2, %c1] : tensor<3x4xf64>
  return %r : f64
}
