// INPUT: 0.7 30
func.func private @step(%a: memref<?xf64>, %b: memref<?xf64>, %k: f64) {
  %c1 = arith.constant 1 : index
  %c0 = arith.constant 0 : index
  %n = memref.dim %a, %c0 : memref<?xf64>
  %m = arith.subi %n, %c1 : index
  scf.for %i = %c1 to %m step %c1 {
    %l = arith.subi %i, %c1 : index
    %r = arith.addi %i, %c1 : index
    %p = memref.load %a[%l] : memref<?xf64>
    %q = memref.load %a[%i] : memref<?xf64>
    %s = memref.load %a[%r] : memref<?xf64>
    %t = arith.addf %p, %s : f64
    %u = arith.subf %t, %q : f64
    %v = arith.mulf %u, %k : f64
    %w = arith.addf %q, %v : f64
    %z = math.tanh %w : f64
    memref.store %z, %b[%i] : memref<?xf64>
  }
  return
}
func.func @f(%x: f64, %n: index) -> f64 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c5 = arith.constant 5 : index
  %u = memref.alloc(%n) : memref<?xf64>
  %v = memref.alloc(%n) : memref<?xf64>
  scf.for %i = %c0 to %n step %c1 {
    memref.store %x, %u[%i] : memref<?xf64>
    memref.store %x, %v[%i] : memref<?xf64>
  }
  scf.for %i = %c0 to %c5 step %c1 {
    func.call @step(%u, %v, %x) : (memref<?xf64>, memref<?xf64>, f64) -> ()
    func.call @step(%v, %u, %x) : (memref<?xf64>, memref<?xf64>, f64) -> ()
  }
  %r = memref.load %u[%c5] : memref<?xf64>
  memref.dealloc %u : memref<?xf64>
  memref.dealloc %v : memref<?xf64>
  return %r : f64
}
