// RUN: pir-opt --pass=backward{seed=args},canonicalize,cse,split-vjp,dce %s | FileCheck %s
// RUN: pir-opt --pass=backward{seed=args},canonicalize,cse,split-vjp,dce %s | pir-run - --function main --input x=[1,2] --input y=[3,-1] --input n=4 | FileCheck %s --check-prefix=MAIN
// RUN: pir-opt --pass=backward{seed=args},canonicalize,cse,split-vjp,dce %s | pir-run - --function main.fwd --input x=[1,2] --input y=[3,-1] --input n=4 | FileCheck %s --check-prefix=FWD
// RUN: pir-opt --pass=backward{seed=args},canonicalize,cse,split-vjp,dce %s | pir-run - --function main.bwd --input c=true --input x=[1,2] --input y=[3,-1] --input d=[3,1] --input ct0=[1,1] --input ct1=10 | FileCheck %s --check-prefix=BWD
// RUN: pir-opt --pass=backward{seed=args},canonicalize,cse,split-vjp{split=false},dce %s | FileCheck %s --check-prefix=ONE
// RUN: pir-opt --pass=backward{seed=args},canonicalize,cse,split-vjp{split=false},dce %s | pir-run - --input x=[1,2] --input y=[3,-1] --input n=4 --input ct0=[1,1] --input ct1=10 | FileCheck %s --check-prefix=BWD
// RUN: pir-opt --pass=backward{seed=args},canonicalize,cse,split-vjp{split=false},backward{seed=args},split-vjp %s | FileCheck %s --check-prefix=TWICE
// The product is computed again from the arguments, which are residuals; the comparison that a result depends on is not, and neither
// is the sum along the elements. The integer is not read.
builtin.module @program {
  func.func public @main(%x: tensor<2xf64> {my.arg = 1}, %n: tensor<i64>, %y: tensor<2xf64>) -> (tensor<2xf64> {my.result}, tensor<i64>, tensor<f64>) {
    %a = pd.multiply (%x, %y) : tensor<2xf64>
    %sum = pd.sum (%a) : tensor<f64>
    %zero = pd.full {shape = [], value = 0.0, dtype = f64} : tensor<f64>
    %c = pd.greater_than (%sum, %zero) : tensor<i1>
    %d = pd.cumsum (%a) : tensor<2xf64>
    %e = pd.multiply (%a, %d) : tensor<2xf64>
    %f = pd.where (%c, %e, %a) : tensor<2xf64>
    func.return (%f, %n, %sum)
  }
}

// CHECK: builtin.module @program {
// CHECK-NEXT: func.func public @main(%x: tensor<2xf64> {my.arg = 1}, %n: tensor<i64>, %y: tensor<2xf64>) -> (tensor<2xf64> {my.result}, tensor<i64>, tensor<f64>) {
// CHECK: func.return (%f, %n, %sum)
// CHECK: func.func public @main.fwd(%x: tensor<2xf64>, %n: tensor<i64>, %y: tensor<2xf64>) -> (tensor<2xf64>, tensor<i64>, tensor<f64>, tensor<2xf64>, tensor<2xf64>, tensor<i1>, tensor<2xf64>) {
// CHECK: func.return (%f, %n, %sum, %x, %y, %c, %d)
// CHECK: func.func public @main.bwd(%x: tensor<2xf64>, %y: tensor<2xf64>, %c: tensor<i1>, %d: tensor<2xf64>, %ct0: tensor<2xf64>, %ct1: tensor<f64>) -> (tensor<2xf64>, tensor<2xf64>) {
// CHECK-NEXT: %a = pd.multiply (%x, %y)
// CHECK-NOT: pd.cumsum (%a)
// CHECK-NOT: pd.greater_than

// MAIN: out:0 = tensor<2xf64> [9, -2]
// MAIN-NEXT: out:1 = tensor<i64> 4
// MAIN-NEXT: out:2 = tensor<f64> 1
// FWD: out:0 = tensor<2xf64> [9, -2]
// FWD: out:5 = tensor<i1> true
// FWD-NEXT: out:6 = tensor<2xf64> [3, 1]
// BWD: out:0 = tensor<2xf64> [42, -9]
// BWD-NEXT: out:1 = tensor<2xf64> [14, 18]

// ONE: func.func public @main(%x: tensor<2xf64> {my.arg = 1}, %n: tensor<i64>, %y: tensor<2xf64>, %ct0: tensor<2xf64>, %ct1: tensor<f64>) -> (tensor<2xf64>, tensor<2xf64>) {
// ONE-NOT: pir.cotangents
// ONE: func.return
// ONE-NOT: func.func

// TWICE: func.func public @main.bwd
