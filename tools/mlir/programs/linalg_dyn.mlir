// INPUT: 0.7 3
// INPUT: 1.7 5
func.func @f(%x: f64, %n: index) -> f64 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f64
  %A = memref.alloc(%n, %n) : memref<?x?xf64>
  %v = memref.alloc(%n) : memref<?xf64>
  %w = memref.alloc(%n) : memref<?xf64>
  %d = memref.alloc() : memref<f64>
  linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]} outs(%A : memref<?x?xf64>) {
  ^bb0(%out: f64):
    %i = linalg.index 0 : index
    %j = linalg.index 1 : index
    %e = arith.cmpi eq, %i, %j : index
    %r = scf.if %e -> f64 {
      %k = arith.index_cast %i : index to i64
      %g = arith.sitofp %k : i64 to f64
      scf.yield %g : f64
    } else {
      scf.yield %x : f64
    }
    linalg.yield %r : f64
  }
  linalg.fill ins(%x : f64) outs(%v : memref<?xf64>)
  scf.for %t = %c0 to %n step %c1 {
    linalg.fill ins(%zero : f64) outs(%w : memref<?xf64>)
    linalg.matvec ins(%A, %v : memref<?x?xf64>, memref<?xf64>) outs(%w : memref<?xf64>)
    linalg.tanh ins(%w : memref<?xf64>) outs(%v : memref<?xf64>)
  }
  linalg.fill ins(%zero : f64) outs(%d : memref<f64>)
  linalg.dot ins(%v, %w : memref<?xf64>, memref<?xf64>) outs(%d : memref<f64>)
  %r = memref.load %d[] : memref<f64>
  memref.dealloc %A : memref<?x?xf64>
  memref.dealloc %v : memref<?xf64>
  memref.dealloc %w : memref<?xf64>
  return %r : f64
}
