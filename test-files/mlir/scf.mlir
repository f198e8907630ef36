func.func @scf(%n: index, %m: memref<?xf32>, %t: tensor<8xf32>) -> f32 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %z = arith.constant 0.0 : f32
  %s = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %z) -> (f32) {
    %v = memref.load %m[%i] : memref<?xf32>
    %cmp = arith.cmpf ogt, %v, %z : f32
    %r = scf.if %cmp -> f32 { %a = arith.addf %acc, %v fastmath<fast> : f32
      scf.yield %a : f32 } else { scf.yield %acc : f32 }
    scf.yield %r : f32
  }
  %w:2 = scf.while (%a = %s, %b = %n) : (f32, index) -> (f32, index) {
    %c = arith.cmpf olt, %a, %z : f32
    scf.condition(%c) %a, %b : f32, index
  } do {
  ^bb0(%a: f32, %b: index):
    %k = index.add %b, %c1
    scf.yield %a, %k : f32, index
  }
  affine.for %i = 0 to 10 { 
    affine.store %z, %m[%i + symbol(%n)] : memref<?xf32>
  }
  %l = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]} ins(%t : tensor<8xf32>) outs(%t : tensor<8xf32>) {
  ^bb0(%in: f32, %out: f32):
    %y = math.tanh %in : f32
    linalg.yield %y : f32
  } -> tensor<8xf32>
  %cc = call @ext(%w#0) : (f32) -> f32
  return %cc : f32
}
func.func private @ext(f32) -> f32
memref.global "private" constant @gl : memref<2xf32> = dense<[1.0, 2.0]>
llvm.func @pf(!llvm.ptr, ...) -> i32
llvm.mlir.global internal constant @str("hi\00")
