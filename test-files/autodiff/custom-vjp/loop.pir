// A scaled sine in a loop and in a branch; its derivative is a loop of its own and reads the operand alone: of the results of the
// calls only what something else reads is recorded.
// RUN: pir-opt --pass=backward %s | FileCheck %s
// RUN: pir-opt --pass=backward,strip-backward %s | FileCheck %s --check-prefix=STRIP
// RUN: pir-run --check-grad %s --input x=[0.7,-1.1] --input n=4 | FileCheck %s --check-prefix=RIGHT
// RUN: pir-opt --pass=backward %s | pir-run --check-grad - --input x=[0.7,-1.1] --input n=3 | FileCheck %s --check-prefix=RIGHT
// RUN: pir-run --eager-grad %s --input x=[0.7,-1.1] --input n=4 | FileCheck %s --check-prefix=EAGER
// RUN: pir-opt --pass=inline,symbol-dce %s | FileCheck %s --check-prefix=INLINE
// RUN: pir-opt --pass='inline{custom-vjp=true},symbol-dce' %s | FileCheck %s --check-prefix=ALL
// RUN: not pir-opt --pass=jvp %s 2>&1 | FileCheck %s --check-prefix=JVP
// RUN: pir-opt --pass='inline{custom-vjp=true},jvp' %s | FileCheck %s --check-prefix=TANGENT

// CHECK: cf.push_back (%stack, %j)
// CHECK-NEXT: cf.push_back (%stack, %b)
// CHECK-NEXT: cf.push_back (%stack, %p)
// CHECK-NEXT: cf.push_back (%stack, %q)
// CHECK-NEXT: cf.push_back (%stack, %late)
// CHECK-NEXT: cf.yield (%next, %r, %stack)
// CHECK: pd.if_grad
// CHECK: pd.cos (%q)
// CHECK: pd.while
// CHECK: pd.cos (%p)
// CHECK: pd.while
// RIGHT: x {{.*}} ok
// EAGER: x_grad = tensor<2xf64> [-2.66702272174
// INLINE: func.func private @f({{.*}}) -> ({{.*}}) attributes {custom_vjp = @f_vjp} {
// INLINE: func.func private @f_vjp(
// INLINE: func.call @f (%p, %j)
// INLINE: func.call @f (%q, %two)
// STRIP-NOT: {{stack|grad}}
// ALL-NOT: func
// JVP: error: the callee has a reverse-mode derivative (`custom_vjp`), which does not determine tangents
// JVP: help: run `inline{custom-vjp=true}` before `jvp` to differentiate the body of the function
// TANGENT: pd.fetch ({{.*}}) {name = "h_tangent"}
func.func private @f(%x: tensor<2xf64>, %k: tensor<i64>) -> (tensor<2xf64>, tensor<i64>) attributes {custom_vjp = @f_vjp} {
  %s = pd.sin (%x) : tensor<2xf64>
  %c = pd.cast (%k) {dtype = f64} : tensor<f64>
  %y = pd.multiply (%s, %c) : tensor<2xf64>
  %m = pd.increment (%k) {value = 1.0} : tensor<i64>
  func.return (%y, %m)
}
func.func private @f_vjp(%x: tensor<2xf64>, %k: tensor<i64>, %y: tensor<2xf64>, %m: tensor<i64>, %g: tensor<2xf64>, %h: tensor<i64>) -> tensor<2xf64> {
  %c = pd.cos (%x) : tensor<2xf64>
  %d = pd.multiply (%c, %g) : tensor<2xf64>
  %zero = pd.full {shape = [], value = 0, dtype = i64} : tensor<i64>
  %none = pd.full {shape = [2], value = 0.0, dtype = f64} : tensor<2xf64>
  %n, %sum = pd.while (%zero, %none) cond (%i: tensor<i64>, %a: tensor<2xf64>) {
    %go = pd.less_than (%i, %k) : tensor<i1>
    cf.cond_yield (%go, %i, %a)
  } body (%j: tensor<i64>, %b: tensor<2xf64>) {
    %next = pd.increment (%j) {value = 1.0} : tensor<i64>
    %t = pd.add (%b, %d) : tensor<2xf64>
    cf.yield (%next, %t)
  } : tensor<i64>, tensor<2xf64>
  func.return (%sum)
}
%x = pd.data {name = "x", shape = [2], dtype = f64} : tensor<2xf64>
%n = pd.data {name = "n", shape = [], dtype = i64} : tensor<i64>
%zero = pd.full {shape = [], value = 0, dtype = i64} : tensor<i64>
%two = pd.full {shape = [], value = 2, dtype = i64} : tensor<i64>
%steps, %h = pd.while (%zero, %x) cond (%i: tensor<i64>, %a: tensor<2xf64>) {
  %go = pd.less_than (%i, %n) : tensor<i1>
  cf.cond_yield (%go, %i, %a)
} body (%j: tensor<i64>, %b: tensor<2xf64>) {
  %p = pd.multiply (%b, %x) : tensor<2xf64>
  %q, %next = func.call @f (%p, %j) : tensor<2xf64>, tensor<i64>
  %late = pd.greater_equal (%j, %two) : tensor<i1>
  %r = pd.if (%late) then {
    %u, %v = func.call @f (%q, %two) : tensor<2xf64>, tensor<i64>
    %w = pd.add (%u, %q) : tensor<2xf64>
    cf.yield (%w)
  } else {
    %w = pd.add (%q, %x) : tensor<2xf64>
    cf.yield (%w)
  } : tensor<2xf64>
  cf.yield (%next, %r)
} : tensor<i64>, tensor<2xf64>
pd.fetch (%h) {name = "h"}
