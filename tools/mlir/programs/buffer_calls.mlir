// INPUT: 0.7 4
// INPUT: -0.3 2
// TIME: 0.1 200
// Functions that take a buffer and change it.
func.func private @fill(%b: memref<?xf64>, %x: f64, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.for %i = %c0 to %n step %c1 {
    memref.store %x, %b[%i] : memref<?xf64>
  }
  return
}
func.func private @step(%b: memref<?xf64>, %i: index) -> f64 {
  %c1 = arith.constant 1 : index
  %h = arith.subi %i, %c1 : index
  %p = memref.load %b[%h] : memref<?xf64>
  %q = memref.load %b[%i] : memref<?xf64>
  %s = math.sin %q : f64
  %r = arith.mulf %s, %p : f64
  %t = arith.addf %r, %p : f64
  memref.store %t, %b[%i] : memref<?xf64>
  return %t : f64
}
func.func private @last(%b: memref<?xf64>, %n: index) -> f64 {
  %c1 = arith.constant 1 : index
  %m = arith.subi %n, %c1 : index
  %y = func.call @step(%b, %m) : (memref<?xf64>, index) -> f64
  return %y : f64
}
func.func @f(%x: f64, %n: index) -> f64 {
  %c1 = arith.constant 1 : index
  %b = memref.alloc(%n) : memref<?xf64>
  call @fill(%b, %x, %n) : (memref<?xf64>, f64, index) -> ()
  %s = scf.for %i = %c1 to %n step %c1 iter_args(%a = %x) -> (f64) {
    %t = func.call @step(%b, %i) : (memref<?xf64>, index) -> f64
    %u = arith.mulf %a, %t : f64
    scf.yield %u : f64
  }
  %y = call @last(%b, %n) : (memref<?xf64>, index) -> f64
  %z = arith.addf %y, %s : f64
  memref.dealloc %b : memref<?xf64>
  return %z : f64
}
