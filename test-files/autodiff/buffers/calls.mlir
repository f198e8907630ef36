// Functions that take buffers are inlined in what is differentiated; one of buffers alone through which no derivative passes is left out.
// RUN: pir-opt --pass=backward --print-mlir %s -o /dev/null 2>&1 | FileCheck %s --check-prefix=NOTE
// RUN: pir-opt --pass=backward --print-mlir %s 2>/dev/null | FileCheck %s
// RUN: pir-opt --pass=backward %s 2>/dev/null | pir-run - --function f_grad --input x=0.7 --input n=4 | FileCheck %s --check-prefix=NUMBERS
// RUN: pir-run %s --function f --input x=0.700001 --input n=4 | FileCheck %s --check-prefix=ABOVE
// RUN: pir-run %s --function f --input x=0.699999 --input n=4 | FileCheck %s --check-prefix=BELOW

// NOTE: note: `@only_buffers` is not differentiated
// NOTE: the derivative passes through the buffer %b, and `memref.memory_space_cast` may create an alias of it or change it

// CHECK-NOT: func.func @only_buffers_grad
// CHECK: func.func @f_grad
// CHECK-NOT: func.call
// CHECK: return
// (6.693336898784263 - 6.693280246745219) / 2e-6 = 28.3260195
// NUMBERS: out:0 = tensor<f64> 6.693308572672
// NUMBERS-NEXT: out:1 = tensor<f64> 28.32601952
// ABOVE: out:0 = tensor<f64> 6.69333689878
// BELOW: out:0 = tensor<f64> 6.69328024674
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
func.func @only_buffers(%b: memref<8xf64>) {
  %c0 = arith.constant 0 : index
  %v = memref.memory_space_cast %b : memref<8xf64> to memref<8xf64, 1>
  %x = memref.load %v[%c0] : memref<8xf64, 1>
  memref.store %x, %b[%c0] : memref<8xf64>
  return
}
