// Calls that say how they are differentiated.
// RUN: pir-opt --pass=inline,backward{seed=args} %s | FileCheck %s
// RUN: pir-opt --pass=inline,backward{seed=args} %s | pir-run - --input x=[1,-2] --input k=3 --input ct0=[1,-1] | FileCheck %s --check-prefix=VALUE
// RUN: pir-opt --pass=inline,backward{seed=args},inline{custom-vjp=true},symbol-dce,canonicalize,cse,licm,remat %s | pir-run - --input x=[1,-2] --input k=3 --input ct0=[1,-1] | FileCheck %s --check-prefix=VALUE
// RUN: pir-opt --pass=inline{custom-vjp=true},backward{seed=args} %s | pir-run - --input x=[1,-2] --input k=3 --input ct0=[1,-1] | FileCheck %s --check-prefix=BODY
// RUN: not pir-opt --pass=inline,jvp %s 2>&1 | FileCheck %s --check-prefix=JVP
// RUN: not pir-run --eager-grad %s --input x=[1,-2] --input k=3 2>&1 | FileCheck %s --check-prefix=EAGER
func.func @main(%x: tensor<2xf64>, %k: tensor<i64>) -> tensor<2xf64> {
  %zero = pd.full {shape = [], value = 0, dtype = i64} : tensor<i64>
  %one = pd.full {shape = [], value = 1, dtype = i64} : tensor<i64>
  %i_end, %y = pd.while (%zero, %x) cond (%i: tensor<i64>, %a: tensor<2xf64>) {
    %go = pd.less_than (%i, %k) : tensor<i1>
    cf.cond_yield (%go, %i, %a)
  } body (%i: tensor<i64>, %a: tensor<2xf64>) {
    %next = pd.add (%i, %one) : tensor<i64>
    %b, %count = func.call @twice (%a, %next) {pir.vjp = @twice.vjp} : tensor<2xf64>, tensor<i64>
    %c = func.call @square (%x) {pir.stop_gradient} : tensor<2xf64>
    %d = pd.add (%b, %c) : tensor<2xf64>
    cf.yield (%count, %d)
  } : tensor<i64>, tensor<2xf64>
  func.return (%y)
}
func.func private @twice(%x: tensor<2xf64>, %n: tensor<i64>) -> (tensor<2xf64>, tensor<i64>) {
  %y = pd.scale (%x) {scale = 2.0} : tensor<2xf64>
  func.return (%y, %n)
}
// Of an integer there is no cotangent: truth values stand in its place.
func.func private @twice.vjp(%x: tensor<2xf64>, %n: tensor<i64>, %g: tensor<2xf64>, %none: tensor<i1>) -> (tensor<2xf64>, tensor<i1>) {
  %h = func.call @triple (%g) : tensor<2xf64>
  func.return (%h, %none)
}
func.func private @triple(%x: tensor<2xf64>) -> tensor<2xf64> {
  %y = pd.scale (%x) {scale = 3.0} : tensor<2xf64>
  func.return (%y)
}
func.func private @square(%x: tensor<2xf64>) -> tensor<2xf64> {
  %y = pd.square (%x) : tensor<2xf64>
  func.return (%y)
}

// The calls stay, and nothing is recorded for their derivatives.
// CHECK: func.call @twice (%a, %next) {pir.vjp = @twice.vjp}
// CHECK: func.call @square (%x) {pir.stop_gradient}
// CHECK-NOT: cf.push_back
// CHECK: pd.while_grad
// CHECK: pd.scale ({{.*}}) {scale = 3.0}

// Three times, and nothing by way of the square.
// VALUE: out:0 = tensor<2xf64> [15, 12]
// VALUE-NEXT: out:1 = tensor<2xf64> [27, -27]
// 8 + 7 * 2x
// BODY: out:1 = tensor<2xf64> [22, 20]

// JVP: error: the callee has a reverse-mode derivative (`custom_vjp`), which does not determine tangents
// JVP: help: run `inline{custom-vjp=true}` before `jvp`

// EAGER: error: `func.call` failed: it has the mark `pir.vjp`, which the eager engine does not support
