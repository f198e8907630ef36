// A function that calls itself, whose adjoint does, too.
// RUN: pir-opt --pass=backward,canonicalize --print-mlir %s | FileCheck %s
// RUN: pir-opt --pass=backward %s | pir-run - --function f_grad --input x=0.7 --input n=5 | FileCheck %s --check-prefix=NUMBERS
// RUN: pir-opt --pass=backward %s | pir-run - --function f_grad --input x=0.7 --input n=0 | FileCheck %s --check-prefix=NONE
// RUN: pir-opt --pass='backward,lower-stacks{to=memref}' --print-mlir %s | FileCheck %s --check-prefix=BUFFERS

// Differences: (f(0.700001) - f(0.699999)) / 2e-6 = 0.4782957.
// NUMBERS: out:0 = tensor<f64> 0.37308322
// NUMBERS-NEXT: out:1 = tensor<f64> 0.47829576
// NONE: out:0 = tensor<f64> 0.6442176
// NONE-NEXT: out:1 = tensor<f64> 0.7648421

// One buffer for each type: of handles nothing is left.
// BUFFERS-LABEL: func.func private @f.augmented(%x: f64, %n: i64, %{{[a-z0-9_]+}}: memref<1xindex>, %{{[a-z0-9_]+}}: memref<1xmemref<?xf64>>, %{{[a-z0-9_]+}}: memref<1xindex>, %{{[a-z0-9_]+}}: memref<1xmemref<?xi1>>) -> f64
// BUFFERS: call @f.augmented({{.*}}) : (f64, i64, memref<1xindex>, memref<1xmemref<?xf64>>, memref<1xindex>, memref<1xmemref<?xi1>>) -> f64
// BUFFERS-LABEL: func.func @f_grad(
// BUFFERS-NOT: pir_tape_free
// BUFFERS: memref.alloca
// BUFFERS: call @pir_tape_free_0
// BUFFERS: return
// BUFFERS-NOT: cf.stack

// CHECK: func.func @f(
// CHECK: func.func private @f.augmented(%x: f64, %n: i64) -> (f64, cf.stack)
// CHECK: call @f.augmented(
// CHECK: func.func private @f.adjoint(%{{.*}}: cf.stack, %{{.*}}: f64) -> f64
// CHECK-NOT: call @f
// CHECK: call @f.adjoint(
// CHECK-NOT: call @f
// CHECK: func.func @f_grad(%x: f64, %n: i64) -> (f64, f64)
// CHECK: call @f.augmented(
// CHECK: call @f.adjoint(
func.func @f(%x: f64, %n: i64) -> f64 {
  %c0 = arith.constant 0 : i64
  %c1 = arith.constant 1 : i64
  %done = arith.cmpi sle, %n, %c0 : i64
  %r = scf.if %done -> (f64) {
    %s = math.sin %x : f64
    scf.yield %s : f64
  } else {
    %m = arith.subi %n, %c1 : i64
    %half = arith.constant 0.5 : f64
    %y = arith.mulf %x, %half : f64
    %z = math.cos %y : f64
    %t = func.call @f(%z, %m) : (f64, i64) -> f64
    %u = arith.mulf %t, %x : f64
    scf.yield %u : f64
  }
  return %r : f64
}
