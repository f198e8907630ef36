// INPUT: 0.7 -0.4
// Tiles of a product of matrices.
func.func @f(%x: f64, %y: f64) -> f64 {
  %c0 = arith.constant 0 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %c4 = arith.constant 4 : index
  %zero = arith.constant 0.0 : f64
  %A = memref.alloc() : memref<4x4xf64>
  %B = memref.alloc() : memref<4x4xf64>
  %C = memref.alloc() : memref<4x4xf64>
  linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]} outs(%A, %B : memref<4x4xf64>, memref<4x4xf64>) {
  ^bb0(%a: f64, %b: f64):
    %i = linalg.index 0 : index
    %j = linalg.index 1 : index
    %k = arith.muli %i, %i : index
    %l = arith.addi %k, %j : index
    %q = arith.index_cast %l : index to i64
    %g = arith.sitofp %q : i64 to f64
    %u = arith.mulf %g, %x : f64
    %v = arith.mulf %g, %y : f64
    %s = math.sin %u : f64
    %t = math.exp %v : f64
    linalg.yield %s, %t : f64, f64
  }
  linalg.fill ins(%zero : f64) outs(%C : memref<4x4xf64>)
  scf.for %i = %c0 to %c4 step %c2 {
    scf.for %j = %c0 to %c4 step %c2 {
      scf.for %k = %c0 to %c4 step %c2 {
        %a = memref.subview %A[%i, %k] [2, 2] [1, 1] : memref<4x4xf64> to memref<2x2xf64, strided<[4, 1], offset: ?>>
        %b = memref.subview %B[%k, %j] [2, 2] [1, 1] : memref<4x4xf64> to memref<2x2xf64, strided<[4, 1], offset: ?>>
        %c = memref.subview %C[%i, %j] [2, 2] [1, 1] : memref<4x4xf64> to memref<2x2xf64, strided<[4, 1], offset: ?>>
        linalg.matmul ins(%a, %b : memref<2x2xf64, strided<[4, 1], offset: ?>>, memref<2x2xf64, strided<[4, 1], offset: ?>>) outs(%c : memref<2x2xf64, strided<[4, 1], offset: ?>>)
      }
    }
  }
  %r = memref.load %C[%c3, %c2] : memref<4x4xf64>
  memref.dealloc %A : memref<4x4xf64>
  memref.dealloc %B : memref<4x4xf64>
  memref.dealloc %C : memref<4x4xf64>
  return %r : f64
}
