// MOST: 5, 3.1 times its time
// INPUT: 0.7 0.2
// INPUT: -1.1 0.4
// Power steps with a sparse matrix in compressed rows, whose pattern is constant and whose entries depend on the input.
memref.global "private" constant @rows : memref<5xindex> = dense<[0, 2, 4, 7, 8]>
memref.global "private" constant @columns : memref<8xindex> = dense<[0, 1, 1, 3, 0, 2, 3, 2]>
func.func private @product(%values: memref<8xf64>, %x: memref<4xf64>, %y: memref<4xf64>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %zero = arith.constant 0.0 : f64
  %rows = memref.get_global @rows : memref<5xindex>
  %columns = memref.get_global @columns : memref<8xindex>
  scf.for %i = %c0 to %c4 step %c1 {
    %next = arith.addi %i, %c1 : index
    %begin = memref.load %rows[%i] : memref<5xindex>
    %end = memref.load %rows[%next] : memref<5xindex>
    %sum = scf.for %k = %begin to %end step %c1 iter_args(%s = %zero) -> (f64) {
      %j = memref.load %columns[%k] : memref<8xindex>
      %v = memref.load %values[%k] : memref<8xf64>
      %xj = memref.load %x[%j] : memref<4xf64>
      %p = arith.mulf %v, %xj : f64
      %t = arith.addf %s, %p : f64
      scf.yield %t : f64
    }
    memref.store %sum, %y[%i] : memref<4xf64>
  }
  return
}
func.func @f(%a: f64, %b: f64) -> f64 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %c8 = arith.constant 8 : index
  %values = memref.alloc() : memref<8xf64>
  %x = memref.alloca() : memref<4xf64>
  %y = memref.alloca() : memref<4xf64>
  scf.for %k = %c0 to %c8 step %c1 {
    %i = arith.index_cast %k : index to i64
    %r = arith.sitofp %i : i64 to f64
    %p = arith.mulf %r, %a : f64
    %s = math.sin %p : f64
    %q = arith.addf %s, %b : f64
    memref.store %q, %values[%k] : memref<8xf64>
  }
  linalg.fill ins(%b : f64) outs(%x : memref<4xf64>)
  memref.store %a, %x[%c1] : memref<4xf64>
  scf.for %step = %c0 to %c4 step %c1 {
    func.call @product(%values, %x, %y) : (memref<8xf64>, memref<4xf64>, memref<4xf64>) -> ()
    memref.copy %y, %x : memref<4xf64> to memref<4xf64>
  }
  %zero = arith.constant 0.0 : f64
  %sum = scf.for %i = %c0 to %c4 step %c1 iter_args(%s = %zero) -> (f64) {
    %v = memref.load %x[%i] : memref<4xf64>
    %w = math.tanh %v : f64
    %t = arith.addf %s, %w : f64
    scf.yield %t : f64
  }
  memref.dealloc %values : memref<8xf64>
  return %sum : f64
}
