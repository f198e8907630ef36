// Steps of a stencil of two dimensions, each copied back.
// RUN: pir-run %s --function f --check-grad --input x=0.4 --input n=3 --input size=5 | FileCheck %s

// CHECK: x {{.*}} ok
// CHECK-NOT: WRONG
func.func @f(%x: f64, %n: index, %size: index) -> f64 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %last = arith.subi %size, %c1 : index
  %q = arith.constant 0.25 : f64
  %z = arith.constant 0.0 : f64
  %u = memref.alloc(%size, %size) : memref<?x?xf64>
  %v = memref.alloc(%size, %size) : memref<?x?xf64>
  scf.for %i = %c0 to %size step %c1 {
    scf.for %j = %c0 to %size step %c1 {
      %b = arith.cmpi eq, %j, %c0 : index
      %w = scf.if %b -> f64 {
        scf.yield %x : f64
      } else {
        scf.yield %z : f64
      }
      memref.store %w, %u[%i, %j] : memref<?x?xf64>
      memref.store %w, %v[%i, %j] : memref<?x?xf64>
    }
  }
  scf.for %t = %c0 to %n step %c1 {
    scf.for %i = %c1 to %last step %c1 {
      scf.for %j = %c1 to %last step %c1 {
        %im = arith.subi %i, %c1 : index
        %ip = arith.addi %i, %c1 : index
        %jm = arith.subi %j, %c1 : index
        %jp = arith.addi %j, %c1 : index
        %a0 = memref.load %u[%im, %j] : memref<?x?xf64>
        %a1 = memref.load %u[%ip, %j] : memref<?x?xf64>
        %a2 = memref.load %u[%i, %jm] : memref<?x?xf64>
        %a3 = memref.load %u[%i, %jp] : memref<?x?xf64>
        %s0 = arith.addf %a0, %a1 : f64
        %s1 = arith.addf %a2, %a3 : f64
        %s2 = arith.mulf %s0, %s1 : f64
        %s3 = arith.addf %s2, %s1 : f64
        %s = arith.mulf %s3, %q : f64
        memref.store %s, %v[%i, %j] : memref<?x?xf64>
      }
    }
    memref.copy %v, %u : memref<?x?xf64> to memref<?x?xf64>
  }
  %r = memref.load %u[%c1, %c1] : memref<?x?xf64>
  memref.dealloc %u : memref<?x?xf64>
  memref.dealloc %v : memref<?x?xf64>
  return %r : f64
}
