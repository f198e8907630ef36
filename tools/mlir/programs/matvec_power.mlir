// MOST: 60, 66 instructions: clang computes on registers what the gradient keeps in buffers
// INPUT: 1.0 0.1
// Power iteration with linalg on buffers, normalized.
func.func @f(%x: f64, %y: f64) -> f64 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %zero = arith.constant 0.0 : f64
  %a = memref.alloc() : memref<3x3xf64>
  %v = memref.alloc() : memref<3xf64>
  %w = memref.alloc() : memref<3xf64>
  linalg.fill ins(%x : f64) outs(%a : memref<3x3xf64>)
  linalg.fill ins(%y : f64) outs(%v : memref<3xf64>)
  %two = arith.constant 2.0 : f64
  memref.store %two, %a[%c1, %c1] : memref<3x3xf64>
  scf.for %i = %c0 to %c3 step %c1 {
    linalg.fill ins(%zero : f64) outs(%w : memref<3xf64>)
    linalg.matvec ins(%a, %v : memref<3x3xf64>, memref<3xf64>) outs(%w : memref<3xf64>)
    %n0 = memref.alloca() : memref<f64>
    memref.store %zero, %n0[] : memref<f64>
    linalg.dot ins(%w, %w : memref<3xf64>, memref<3xf64>) outs(%n0 : memref<f64>)
    %n2 = memref.load %n0[] : memref<f64>
    %n = math.sqrt %n2 : f64
    linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]} ins(%w : memref<3xf64>) outs(%v : memref<3xf64>) {
    ^bb0(%in: f64, %out: f64):
      %q = arith.divf %in, %n : f64
      linalg.yield %q : f64
    }
  }
  %r = memref.load %v[%c1] : memref<3xf64>
  memref.dealloc %a : memref<3x3xf64>
  memref.dealloc %v : memref<3xf64>
  memref.dealloc %w : memref<3xf64>
  return %r : f64
}
