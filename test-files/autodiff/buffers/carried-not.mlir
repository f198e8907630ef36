// A loop that allocates the buffers that it carries: which they are no number can say.
// RUN: not pir-opt --pass=backward %s 2>&1 | FileCheck %s
// CHECK: error: the derivative passes through the buffer %first, and `pd.while` may create an alias of it or change it
func.func @f(%x: f64, %n: index) -> f64 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %first = memref.alloc() : memref<1xf64>
  memref.store %x, %first[%c0] : memref<1xf64>
  %last = scf.for %i = %c0 to %n step %c1 iter_args(%old = %first) -> (memref<1xf64>) {
    %new = memref.alloc() : memref<1xf64>
    %v = memref.load %old[%c0] : memref<1xf64>
    %w = arith.mulf %v, %x : f64
    memref.store %w, %new[%c0] : memref<1xf64>
    scf.yield %new : memref<1xf64>
  }
  %r = memref.load %last[%c0] : memref<1xf64>
  return %r : f64
}
