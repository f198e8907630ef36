// INPUT: 0.4 -0.7
func.func @f(%x: f64, %y: f64) -> f64 {
  %a0 = tensor.empty() : tensor<3x4xf64>
  %a = tensor.splat %x : tensor<3x4xf64>
  %b = tensor.generate {
  ^bb0(%i: index, %j: index):
    %s = arith.addi %i, %j : index
    %k = arith.index_cast %s : index to i64
    %v = arith.sitofp %k : i64 to f64
    %w = arith.mulf %v, %y : f64
    tensor.yield %w : f64
  } : tensor<3x4xf64>
  %m = linalg.map { arith.mulf } ins(%a, %b : tensor<3x4xf64>, tensor<3x4xf64>) outs(%a0 : tensor<3x4xf64>)
  %n = linalg.map ins(%m, %b : tensor<3x4xf64>, tensor<3x4xf64>) outs(%a0 : tensor<3x4xf64>) (%p: f64, %q: f64) {
    %1 = math.exp %p : f64
    %2 = arith.addf %1, %q : f64
    linalg.yield %2 : f64
  }
  %i = tensor.splat %y : tensor<3xf64>
  %r = linalg.reduce { arith.addf } ins(%n : tensor<3x4xf64>) outs(%i : tensor<3xf64>) dimensions = [1]
  %one = arith.constant 1.0 : f64
  %i2 = tensor.from_elements %one : tensor<f64>
  %z = linalg.reduce ins(%r : tensor<3xf64>) outs(%i2 : tensor<f64>) dimensions = [0] (%in: f64, %acc: f64) {
    %1 = arith.mulf %in, %acc : f64
    linalg.yield %1 : f64
  }
  %res = tensor.extract %z[] : tensor<f64>
  return %res : f64
}
