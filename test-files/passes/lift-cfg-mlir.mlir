// Blocks of MLIR's `cf` become `scf.if` and `scf.while`, which have derivatives, and the other way round.
// RUN: pir-opt --pass=lift-cfg --print-mlir %s | FileCheck %s
// RUN: pir-opt --pass=lift-cfg %s | pir-run - --function sine --input x=0.4 --input n=5 | FileCheck --check-prefix=VALUE %s
// RUN: pir-opt --pass=lift-cfg,lower-to-cfg %s | pir-run - --function sine --input x=0.4 --input n=5 | FileCheck --check-prefix=VALUE %s
// RUN: pir-opt --pass=lower-to-cfg --print-mlir %s | FileCheck --check-prefix=BLOCKS %s
// RUN: pir-opt --pass=backward %s | pir-run - --function sine_grad --input x=0.4 --input n=5 | FileCheck --check-prefix=GRAD %s
// RUN: pir-opt --pass=backward %s | pir-run - --function choose_grad --input x=0.4 --input k=1 | FileCheck --check-prefix=CHOOSE %s

// VALUE: out:0 = tensor<f64> 1.77937
// GRAD: out:0 = tensor<f64> 1.77937
// GRAD-NEXT: out:1 = tensor<f64> 1.69624

// CHECK-LABEL: func.func @sine
// CHECK-NOT: cf.
// CHECK: scf.while
// CHECK: scf.if
// CHECK-NOT: pd.
func.func @sine(%x: f64, %n: index) -> f64 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %half = arith.constant 0.5 : f64
  cf.br ^head(%c0, %x : index, f64)
^head(%i: index, %a: f64):
  %go = arith.cmpi slt, %i, %n : index
  cf.cond_br %go, ^body, ^exit(%a : f64)
^body:
  %s = math.sin %a : f64
  %big = arith.cmpf ogt, %s, %half : f64
  cf.cond_br %big, ^left, ^right(%s : f64)
^left:
  %l = arith.addf %s, %x : f64
  cf.br ^right(%l : f64)
^right(%v: f64):
  %w = arith.addf %v, %x : f64
  %j = arith.addi %i, %c1 : index
  cf.br ^head(%j, %w : index, f64)
^exit(%r: f64):
  return %r : f64
}

// exp(x · x) and its derivative.
// CHOOSE: out:0 = tensor<f64> 1.17351
// CHOOSE-NEXT: out:1 = tensor<f64> 0.93880

// CHECK-LABEL: func.func @choose
// CHECK: arith.cmpi eq
// CHECK: scf.if
// CHECK: arith.cmpi eq
// CHECK: scf.if
func.func @choose(%x: f64, %k: i32) -> f64 {
  cf.switch %k : i32, [
    default: ^end(%x : f64),
    0: ^cos,
    1: ^square(%x, %x : f64, f64)
  ]
^cos:
  %c = math.cos %x : f64
  cf.br ^end(%c : f64)
^square(%p: f64, %q: f64):
  %m = arith.mulf %p, %q : f64
  cf.br ^end(%m : f64)
^end(%v: f64):
  %e = math.exp %v : f64
  return %e : f64
}

// Loops that count, and regions with blocks of their own.
// BLOCKS-LABEL: func.func @regions
// BLOCKS-NOT: scf.
// BLOCKS: cf.cond_br
// BLOCKS-NOT: scf.
// BLOCKS: return
func.func @regions(%x: f64, %n: index) -> f64 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %y = scf.for %i = %c0 to %n step %c1 iter_args(%a = %x) -> (f64) {
    %s = math.sin %a : f64
    scf.yield %s : f64
  }
  %r = scf.execute_region -> f64 {
    %c = arith.cmpf olt, %x, %y : f64
    cf.cond_br %c, ^a, ^b
  ^a:
    scf.yield %x : f64
  ^b:
    %t = arith.mulf %x, %y : f64
    scf.yield %t : f64
  }
  return %r : f64
}
