// Arguments that are buffers have shadows, behind all arguments. That of %y begins with the cotangents of what is left in it, and ends with
// zeros, since all of it is overwritten; that of %x gets those of its elements.
// RUN: pir-opt --pass=backward --print-mlir %s | FileCheck %s
// RUN: pir-opt --pass=backward %s | pir-run - --function f_grad --input x=[1,2,3] --input y=[0,0,0] --input x_grad=[0,0,0] --input y_grad=[1,10,100] | FileCheck %s --check-prefix=NUMBERS

// y = x * x
// NUMBERS: y = tensor<3xf64> [1, 4, 9]
// NUMBERS: x_grad = tensor<3xf64> [2, 40, 600]
// NUMBERS: y_grad = tensor<3xf64> [0, 0, 0]

// CHECK: func.func @f_grad(%x: memref<3xf64>, %y: memref<3xf64>, %x_grad: memref<3xf64>, %y_grad: memref<3xf64>)
func.func @f(%x: memref<3xf64>, %y: memref<3xf64>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  scf.for %i = %c0 to %c3 step %c1 {
    %v = memref.load %x[%i] : memref<3xf64>
    %w = arith.mulf %v, %v : f64
    memref.store %w, %y[%i] : memref<3xf64>
  }
  return
}
