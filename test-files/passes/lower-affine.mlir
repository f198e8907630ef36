// Operations of affine become those of scf, arith and memref: bounds of several results, sets, remainders of negative numbers.
// RUN: pir-opt --pass=lower-affine %s | FileCheck %s
// RUN: pir-run --function sum %s | FileCheck %s --check-prefix=VALUE

// VALUE: out:0 = tensor<i64> 14
// CHECK-LABEL: func.func @sum
// CHECK-NOT: affine.
// CHECK: arith.minsi
// CHECK: scf.for
// CHECK: arith.remsi
// CHECK: scf.if
// CHECK: } else {
func.func @sum() -> index {
  %c0 = arith.constant 0 : index
  %c5 = arith.constant 5 : index
  // -2 mod 3 + -1 mod 3 + 0 … : 1 2 0 1 2 0 1, twice where i >= 1 and i != 3.
  %s = affine.for %i = -2 to min affine_map<()[s0] -> (s0, 9)>()[%c5] iter_args(%a = %c0) -> (index) {
    %m = affine.apply affine_map<(d0) -> (d0 mod 3 + d0 - d0)>(%i)
    %v = affine.if affine_set<(d0) : (d0 - 1 >= 0, (d0 - 3) * (-1) >= 0)>(%i) -> index {
      %t = arith.addi %m, %m : index
      affine.yield %t : index
    } else {
      affine.yield %m : index
    }
    %h = affine.apply affine_map<(d0) -> (d0 floordiv 2 + d0 ceildiv 2 - d0)>(%i)
    %b = arith.addi %a, %v : index
    %c = arith.addi %b, %h : index
    %k = affine.max affine_map<(d0) -> (d0, 0)>(%i)
    %l = affine.min affine_map<(d0) -> (d0, 1)>(%k)
    %d = arith.addi %c, %l : index
    affine.yield %d : index
  }
  %r = arith.addi %s, %c0 : index
  return %r : index
}

// Places are computed; what is stored is read back at the same place.
// CHECK-LABEL: func.func @copy
// CHECK-NOT: affine.
// CHECK: memref.load
// CHECK: memref.store
func.func @copy(%b: memref<8xf64>) {
  affine.for %i = 0 to 3 {
    %v = affine.load %b[%i * 2 + 1] : memref<8xf64>
    affine.store %v, %b[%i * 2] : memref<8xf64>
  }
  return
}
