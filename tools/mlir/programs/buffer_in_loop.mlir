// INPUT: 0.6 4
// INPUT: -1.2 2
// TIME: 0.6 300
// A buffer of its own in each iteration, and a loop that ends when an element is large.
func.func @f(%x: f64, %n: index) -> f64 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %limit = arith.constant 3.0 : f64
  %fac = arith.constant 1.5 : f64
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%a = %x) -> (f64) {
    %b = memref.alloc(%c2, %c2) : memref<?x?xf64>
    %s = math.sin %a : f64
    %one = math.exp %s : f64
    memref.store %one, %b[%c0, %c1] : memref<?x?xf64>
    scf.while : () -> () {
      %v = memref.load %b[%c0, %c1] : memref<?x?xf64>
      %go = arith.cmpf olt, %v, %limit : f64
      scf.condition(%go)
    } do {
      %v = memref.load %b[%c0, %c1] : memref<?x?xf64>
      %w = arith.mulf %v, %fac : f64
      %u = arith.mulf %w, %v : f64
      %t = arith.addf %u, %w : f64
      memref.store %t, %b[%c0, %c1] : memref<?x?xf64>
      scf.yield
    }
    %v = memref.load %b[%c0, %c1] : memref<?x?xf64>
    %l = math.tanh %v : f64
    %c = arith.mulf %l, %a : f64
    memref.dealloc %b : memref<?x?xf64>
    scf.yield %c : f64
  }
  return %r : f64
}
