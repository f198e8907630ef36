// RUN: pir-opt --pass=backward{seed=args} %s | FileCheck %s
// RUN: pir-opt --pass=backward{seed=args},canonicalize,cse %s | pir-run - --input x=[0.5,2] --input n=2 --input ct0=[1,-2] --input ct1=[0.5,3] | FileCheck %s --check-prefix=VALUE
// RUN: pir-opt --pass=backward{seed=args},strip-backward %s | FileCheck %s --check-prefix=STRIP
// RUN: pir-opt --pass=backward{seed=args},canonicalize,strip-backward{by=liveness} %s | FileCheck %s --check-prefix=STRIP
// RUN: not pir-opt --pass=backward{seed=args},backward %s 2>&1 | FileCheck %s --check-prefix=AGAIN
// RUN: pir-opt --pass=backward{of=2,seed=args,wrt=x} %s | FileCheck %s --check-prefix=ONE
// One argument for each result of floats, behind the others; none for the integer.
func.func @main(%x: tensor<2xf64>, %n: tensor<i64>) -> (tensor<2xf64>, tensor<i64>, tensor<2xf64>) {
  %zero = pd.full {shape = [], value = 0, dtype = i64} : tensor<i64>
  %one = pd.full {shape = [], value = 1, dtype = i64} : tensor<i64>
  %i_end, %y = pd.while (%zero, %x) cond (%i: tensor<i64>, %a: tensor<2xf64>) {
    %go = pd.less_than (%i, %n) : tensor<i1>
    cf.cond_yield (%go, %i, %a)
  } body (%i: tensor<i64>, %a: tensor<2xf64>) {
    %t = pd.multiply (%a, %a) : tensor<2xf64>
    %next = pd.add (%i, %one) : tensor<i64>
    cf.yield (%next, %t)
  } : tensor<i64>, tensor<2xf64>
  %z = pd.multiply (%y, %x) : tensor<2xf64>
  func.return (%y, %i_end, %z)
}

// CHECK: func.func @main(%x: tensor<2xf64>, %n: tensor<i64>, %ct0: tensor<2xf64>, %ct1: tensor<2xf64>) -> (tensor<2xf64>, tensor<i64>, tensor<2xf64>, tensor<2xf64>) attributes {pir.cotangents = [2, 1]}
// CHECK: %y_grad = pd.assign (%ct0) {backward = 1}
// CHECK: pd.multiply (%ct1, %x)
// CHECK: func.return (%y, %i_end, %z, %x_grad

// y = x^4 and z = x^5: ct0 * 4x^3 + ct1 * 5x^4
// VALUE: out:0 = tensor<2xf64> [0.0625, 16]
// VALUE-NEXT: out:1 = tensor<i64> 2
// VALUE-NEXT: out:2 = tensor<2xf64> [0.03125, 32]
// VALUE-NEXT: out:3 = tensor<2xf64> [0.65625, 176]

// STRIP: func.func @main(%x: tensor<2xf64>, %n: tensor<i64>) -> (tensor<2xf64>, tensor<i64>, tensor<2xf64>) {
// STRIP-NOT: cf.
// STRIP: pd.while (
// STRIP: func.return (%y, %{{.*}}, %z)

// AGAIN: error: a function that takes cotangents cannot be differentiated again
// AGAIN: help: run `split-vjp`, which separates the gradients

// ONE: func.func @main(%x: tensor<2xf64>, %n: tensor<i64>, %ct0: tensor<2xf64>) -> {{.*}} attributes {pir.cotangents = [1, 1]}
