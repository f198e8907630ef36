// Narrow floats are computed in f64 for the comparison: constants, elements of buffers, and conversions too.
// RUN: pir-run %s --function f --check-grad --input x=0.3 --input t=[0.2,0.4,-0.1] | FileCheck %s

// CHECK: x {{.*}} ok
// CHECK: t {{.*}} ok
memref.global "private" constant @w : memref<3xf32> = dense<[0.5, -1.0, 2.0]>
func.func private @act(%x: f32) -> f32 {
  %z = arith.constant 0.0 : f32
  %y = arith.maximumf %x, %z : f32
  %w = arith.extf %y : f32 to f64
  %s = math.sin %w : f64
  %t = arith.truncf %s : f64 to f32
  return %t : f32
}
func.func @f(%x: f32, %t: tensor<3xf32>) -> f32 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %z = arith.constant 0.0 : f32
  %k = arith.constant dense<[1.0, 2.0, 3.0]> : tensor<3xf32>
  %two = arith.constant dense<2.0> : tensor<3xf32>
  %g = memref.get_global @w : memref<3xf32>
  %b = memref.alloc() : memref<3xf32>
  %u0 = arith.mulf %t, %k : tensor<3xf32>
  %u = arith.addf %u0, %two : tensor<3xf32>
  scf.for %i = %c0 to %c3 step %c1 {
    %v = memref.load %g[%i] : memref<3xf32>
    %w = arith.mulf %v, %x : f32
    %q = tensor.extract %u[%i] : tensor<3xf32>
    %a = func.call @act(%q) : (f32) -> f32
    %m = arith.mulf %a, %w : f32
    memref.store %m, %b[%i] : memref<3xf32>
  }
  %r = scf.for %i = %c0 to %c3 step %c1 iter_args(%s = %z) -> f32 {
    %v = memref.load %b[%i] : memref<3xf32>
    %e = math.exp %v : f32
    %a = arith.addf %s, %e : f32
    scf.yield %a : f32
  }
  memref.dealloc %b : memref<3xf32>
  return %r : f32
}
