// INPUT: 1.0 0.1 20
func.func private @step(%s: memref<3xf64>, %sigma: f64, %h: f64) attributes {inline_hint = "never"} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %rho = arith.constant 28.0 : f64
  %beta = arith.constant 2.6666666666666665 : f64
  %x = memref.load %s[%c0] : memref<3xf64>
  %y = memref.load %s[%c1] : memref<3xf64>
  %z = memref.load %s[%c2] : memref<3xf64>
  %0 = arith.subf %y, %x : f64
  %dx = arith.mulf %sigma, %0 : f64
  %1 = arith.subf %rho, %z : f64
  %2 = arith.mulf %x, %1 : f64
  %dy = arith.subf %2, %y : f64
  %3 = arith.mulf %x, %y : f64
  %4 = arith.mulf %beta, %z : f64
  %dz = arith.subf %3, %4 : f64
  %5 = arith.mulf %dx, %h : f64
  %6 = arith.mulf %dy, %h : f64
  %7 = arith.mulf %dz, %h : f64
  %8 = arith.addf %x, %5 : f64
  %9 = arith.addf %y, %6 : f64
  %10 = arith.addf %z, %7 : f64
  memref.store %8, %s[%c0] : memref<3xf64>
  memref.store %9, %s[%c1] : memref<3xf64>
  memref.store %10, %s[%c2] : memref<3xf64>
  return
}
func.func @f(%x: f64, %sigma: f64, %n: index) -> f64 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %h = arith.constant 0.01 : f64
  %s = memref.alloca() : memref<3xf64>
  linalg.fill ins(%x : f64) outs(%s : memref<3xf64>)
  scf.for %i = %c0 to %n step %c1 {
    func.call @step(%s, %sigma, %h) : (memref<3xf64>, f64, f64) -> ()
  }
  %r = memref.load %s[%c1] : memref<3xf64>
  return %r : f64
}
