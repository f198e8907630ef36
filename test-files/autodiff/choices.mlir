// Choices by a number, regions that run once, and loops whose iterations are in no order: each becomes branches and loops that count.
// RUN: pir-opt --pass=backward --print-mlir %s | FileCheck %s
// RUN: pir-run %s --function switch --check-grad --input x=0.5 --input n=0 | FileCheck %s --check-prefix=OK
// RUN: pir-run %s --function switch --check-grad --input x=0.5 --input n=2 | FileCheck %s --check-prefix=OK
// RUN: pir-run %s --function switch --check-grad --input x=0.5 --input n=7 | FileCheck %s --check-prefix=OK
// RUN: pir-run %s --function one_case --check-grad --input x=0.5 --input n=4 | FileCheck %s --check-prefix=OK
// RUN: pir-run %s --function no_case --check-grad --input x=0.5 --input n=4 | FileCheck %s --check-prefix=OK
// RUN: pir-run %s --function region --check-grad --input x=0.5 --input n=4 | FileCheck %s --check-prefix=OK
// RUN: pir-run %s --function parallel --check-grad --input x=0.5 --input n=4 | FileCheck %s --check-prefix=OK
// RUN: pir-run %s --function forall --check-grad --input t=[0.5,0.25,0.75,0.125,0.375,1] --input n=4 | FileCheck %s --check-prefix=OK
// RUN: pir-run %s --function parallel --input x=0.5 --input n=3 | FileCheck %s --check-prefix=PARALLEL
// RUN: pir-run %s --function forall --input t=[0,1,2,3,4,5] --input n=4 | FileCheck %s --check-prefix=FORALL

// OK: {{x|t}} {{.*}} ok
// OK-NOT: WRONG

// CHECK: func.func @switch_grad(
// CHECK: arith.cmpi eq
// CHECK: scf.if
// CHECK: else
// CHECK: arith.cmpi eq
func.func @switch(%x: f64, %n: index) -> f64 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%a = %x) -> f64 {
    %q:2 = scf.index_switch %i -> f64, f64
    case 0 {
      %u = math.sin %a : f64
      scf.yield %u, %x : f64, f64
    }
    case 2 {
      %u = arith.mulf %a, %x : f64
      %v = math.exp %u : f64
      scf.yield %v, %u : f64, f64
    }
    default {
      scf.yield %a, %a : f64, f64
    }
    %s = arith.addf %q#0, %q#1 : f64
    scf.yield %s : f64
  }
  return %r : f64
}

func.func @one_case(%x: f64, %n: index) -> f64 {
  %r = scf.index_switch %n -> f64
  case 4 {
    %u = math.sin %x : f64
    scf.yield %u : f64
  }
  default {
    scf.yield %x : f64
  }
  return %r : f64
}

func.func @no_case(%x: f64, %n: index) -> f64 {
  %r = scf.index_switch %n -> f64
  default {
    %u = math.sin %x : f64
    scf.yield %u : f64
  }
  return %r : f64
}

// CHECK: func.func @region_grad(
// CHECK-NOT: execute_region
// CHECK-LABEL: func.func @parallel
func.func @region(%x: f64, %n: index) -> f64 {
  %r = scf.execute_region -> f64 {
    %u = math.exp %x : f64
    scf.yield %u : f64
  }
  %s = arith.mulf %r, %x : f64
  return %s : f64
}

// The sum of (i · x)², and the largest of 1 and i · x: (1 + 4) / 4 + 1.
// PARALLEL: out:0 = tensor<f64> 2.25
func.func @parallel(%x: f64, %n: index) -> f64 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %zero = arith.constant 0.0 : f64
  %one = arith.constant 1.0 : f64
  %b = memref.alloc(%n) : memref<?x2xf64>
  scf.parallel (%i, %j) = (%c0, %c0) to (%n, %c2) step (%c1, %c1) {
    %k = arith.index_cast %i : index to i64
    %g = arith.sitofp %k : i64 to f64
    %v = arith.mulf %g, %x : f64
    memref.store %v, %b[%i, %j] : memref<?x2xf64>
    scf.reduce
  }
  %r:2 = scf.parallel (%i) = (%c0) to (%n) step (%c1) init (%zero, %one) -> (f64, f64) {
    %v = memref.load %b[%i, %c0] : memref<?x2xf64>
    %w = memref.load %b[%i, %c1] : memref<?x2xf64>
    %p = arith.mulf %v, %w : f64
    scf.reduce(%p, %v : f64, f64) {
    ^bb0(%l: f64, %q: f64):
      %s = arith.addf %l, %q : f64
      scf.reduce.return %s : f64
    }, {
    ^bb0(%l: f64, %q: f64):
      %s = arith.maximumf %l, %q : f64
      scf.reduce.return %s : f64
    }
  }
  memref.dealloc %b : memref<?x2xf64>
  %c = arith.addf %r#0, %r#1 : f64
  return %c : f64
}

// Squares of two tiles of two.
// FORALL: out:0 = tensor<6xf64> [0, 1, 4, 9, 4, 5]
func.func @forall(%t: tensor<6xf64>, %n: index) -> tensor<6xf64> {
  %r = scf.forall (%i) = (0) to (%n) step (2) shared_outs(%o = %t) -> (tensor<6xf64>) {
    %s = tensor.extract_slice %o[%i] [2] [1] : tensor<6xf64> to tensor<2xf64>
    %e = arith.mulf %s, %s : tensor<2xf64>
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %e into %o[%i] [2] [1] : tensor<2xf64> into tensor<6xf64>
    }
  }
  return %r : tensor<6xf64>
}
