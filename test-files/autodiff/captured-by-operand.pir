// RUN: pir-run --check-grad %s --input 'x=[0.3, 0.7]' --input n=3 | FileCheck %s
// The inner loop starts from %x in each iteration of the outer one, and is the only operation in it that reads %x: the derivative of the
// outer loop carries what reaches the operand.

// CHECK: x {{.*}} ok
%x = pd.data {name = "x", shape = [2], dtype = f64}
%n = pd.data {name = "n", shape = [], dtype = i64}
%zero = pd.full {shape = [], value = 0, dtype = i64}
%one = pd.full {shape = [], value = 1, dtype = i64}
%i, %r = pd.while (%zero, %x) cond (%i0: tensor<i64>, %a: tensor<2xf64>) {
  %go = pd.less_than (%i0, %n)
  cf.cond_yield (%go, %i0, %a)
} body (%i1: tensor<i64>, %b: tensor<2xf64>) {
  %j, %s = pd.while (%zero, %x) cond (%j0: tensor<i64>, %c: tensor<2xf64>) {
    %more = pd.less_than (%j0, %i1)
    cf.cond_yield (%more, %j0, %c)
  } body (%j1: tensor<i64>, %d: tensor<2xf64>) {
    %next = pd.add (%j1, %one)
    %square = pd.multiply (%d, %d)
    cf.yield (%next, %square)
  }
  %k = pd.add (%i1, %one)
  %sum = pd.add (%b, %s)
  cf.yield (%k, %sum)
}
pd.fetch (%r) {name = "r"}
