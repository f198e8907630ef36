// INPUT: 0.4 -0.7
// MOST: 26, clang removes most elements of the function, which nobody loads, and their sines
#id = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>
#col = affine_map<(d0, d1) -> (d1)>
func.func @f(%x: f64, %y: f64) -> f64 {
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %a = memref.alloc() : memref<3x4xf64>
  %s = memref.alloc() : memref<3xf64>
  %p = memref.alloc() : memref<4xf64>
  linalg.fill ins(%x : f64) outs(%a : memref<3x4xf64>)
  memref.store %y, %a[%c1, %c2] : memref<3x4xf64>
  linalg.fill ins(%y : f64) outs(%s : memref<3xf64>)
  linalg.fill ins(%x : f64) outs(%p : memref<4xf64>)
  linalg.generic {indexing_maps = [#id, #row, #col], iterator_types = ["reduction", "reduction"]}
    ins(%a : memref<3x4xf64>) outs(%s, %p : memref<3xf64>, memref<4xf64>) {
  ^bb0(%v: f64, %so: f64, %po: f64):
    %1 = arith.mulf %v, %so : f64
    %2 = arith.addf %1, %x : f64
    %3 = math.sin %v : f64
    %4 = arith.addf %po, %3 : f64
    linalg.yield %2, %4 : f64, f64
  }
  %r0 = memref.load %s[%c1] : memref<3xf64>
  %r1 = memref.load %p[%c2] : memref<4xf64>
  %r = arith.mulf %r0, %r1 : f64
  return %r : f64
}
