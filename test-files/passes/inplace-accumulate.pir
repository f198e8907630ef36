// RUN: pir-opt --pass=backward,inplace-accumulate %s | FileCheck %s
// RUN: pir-opt --pass=backward,inplace-accumulate,licm,cse,canonicalize,sccp,forward-args,dce %s | FileCheck %s --check-prefix=AFTER
// RUN: not pir-opt --pass=inplace-accumulate,backward %s 2>&1 | FileCheck %s --check-prefix=REFUSED
%n = pd.data {name = "n", shape = [], dtype = i64} : tensor<i64>
%x = pd.data {name = "x", shape = [2], dtype = f64} : tensor<2xf64>
%w = pd.data {name = "w", shape = [2], dtype = f64} : tensor<2xf64>
%zero = pd.full {shape = [], value = 0, dtype = i64} : tensor<i64>
%one = pd.full {shape = [], value = 1, dtype = i64} : tensor<i64>
%s = pd.full {shape = [], value = 0.0, dtype = f64} : tensor<f64>
%k, %y, %total = pd.while (%zero, %x, %s) cond (%i, %a, %sum) {
  %go = pd.less_than (%i, %n)
  cf.cond_yield (%go, %i, %a, %sum)
} body (%i, %a, %sum) {
  %p = pd.multiply (%a, %w)
  %q = pd.tanh (%p)
  %part = pd.sum (%q)
  %more = pd.add (%sum, %part)
  %next = pd.add (%i, %one)
  cf.yield (%next, %q, %more)
}
pd.fetch (%y) {name = "y"}
pd.fetch (%total) {name = "total"}

// The sum of the forward loop, and the gradient of %w.
// CHECK: [[S:%s]] = pd.full {shape = [], value = 0.0, dtype = f64}
// CHECK: %k, %y, %stack = pd.while (%zero, %x) init (%i: tensor<i64>, %a: tensor<2xf64>) {
// CHECK: } body (
// CHECK: pd.inplace_add ([[S]], %part)
// CHECK: cf.yield (%next, %q, %stack)
// CHECK: pd.fetch ([[S]]) {name = "total"}
// CHECK: [[W:%w_grad]] = pd.full {shape = [2], value = 0.0, dtype = f64}
// CHECK: [[A:%.*]]{{(, %.*)?}} = pd.while_grad ({{[^)]*}}) cond
// CHECK: } body (
// CHECK: [[P:%.*]] = pd.multiply ({{%.*}}, %a) : tensor<2xf64>
// CHECK: pd.inplace_add ([[W]], [[P]])
// CHECK: pd.fetch ([[W]]) {name = "w_grad"}

// Other passes leave the two where they are, although both are zeros and look invariant.
// AFTER: %s = pd.full {shape = [], value = 0.0
// AFTER: pd.while
// AFTER: pd.inplace_add (%s,
// AFTER: pd.fetch (%s) {name = "total"}
// AFTER: %w_grad = pd.full
// AFTER: pd.while_grad
// AFTER: pd.inplace_add (%w_grad,
// AFTER: pd.fetch (%w_grad) {name = "w_grad"}

// REFUSED: a program that changes values in place cannot be differentiated
