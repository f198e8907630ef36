// INPUT: 0.9 -0.3
func.func @f(%x: f64, %y: f64) -> f64 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c5 = arith.constant 5 : index
  %m = memref.alloc() : memref<6xf64>
  %t = tensor.from_elements %x, %y, %x, %y, %x, %y : tensor<6xf64>
  %c6 = arith.constant 6 : index
  scf.for %i = %c0 to %c6 step %c1 {
    %v = tensor.extract %t[%i] : tensor<6xf64>
    %k = arith.index_cast %i : index to i64
    %g = arith.uitofp %k : i64 to f64
    %w = math.powf %g, %v : f64
    %h = arith.addf %w, %v : f64
    memref.store %h, %m[%i] : memref<6xf64>
  }
  scf.for %i = %c0 to %c5 step %c1 {
    %e = arith.subi %c5, %i : index
    scf.for %j = %c0 to %e step %c1 {
      %j1 = arith.addi %j, %c1 : index
      %a = memref.load %m[%j] : memref<6xf64>
      %b = memref.load %m[%j1] : memref<6xf64>
      %gt = arith.cmpf ogt, %a, %b : f64
      scf.if %gt {
        memref.store %b, %m[%j] : memref<6xf64>
        memref.store %a, %m[%j1] : memref<6xf64>
      }
    }
  }
  %c2 = arith.constant 2 : index
  %r = memref.load %m[%c2] : memref<6xf64>
  %q = memref.load %m[%c5] : memref<6xf64>
  %s = arith.subf %q, %r : f64
  return %s : f64
}
