// What a condition forwards is brought into the order in which it gets it.
// RUN: pir-opt --pass=canonicalize %s | FileCheck %s
// RUN: pir-opt --pass=canonicalize %s | pir-run - --input x=0.5 --input y=2 --input n=3 > %t.after
// RUN: pir-run %s --input x=0.5 --input y=2 --input n=3 | diff %t.after -
%x = pd.data {name = "x", shape = [1], dtype = f64}
%y = pd.data {name = "y", shape = [2], dtype = f64}
%n = pd.data {name = "n", shape = [1], dtype = i64}
%zero = pd.full {shape = [1], value = 0, dtype = i64}
%one = pd.full {shape = [1], value = 1, dtype = i64}

// CHECK: %i_e, %a_e, %b_e = pd.while (%zero, %x, %y) cond (%i: tensor<1xi64>, %a: tensor<1xf64>, %b: tensor<2xf64>) {
// CHECK: cf.cond_yield (%{{.*}}, %i, %a, %b)
// CHECK-NEXT: } body (%k: tensor<1xi64>, %p: tensor<1xf64>, %q: tensor<2xf64>) {
// CHECK: cf.yield (%next, %t, %s)
// CHECK-NEXT: } : tensor<1xi64>, tensor<1xf64>, tensor<2xf64>
%b_e, %i_e, %a_e = pd.while (%zero, %x, %y) cond (%i, %a, %b) {
  %c = pd.less_than (%i, %n)
  cf.cond_yield (%c, %b, %i, %a)
} body (%q, %k, %p) {
  %s = pd.multiply (%q, %p)
  %t = pd.sin (%p)
  %next = pd.add (%k, %one)
  cf.yield (%next, %t, %s)
}
pd.fetch (%i_e) {name = "i"}
pd.fetch (%a_e) {name = "a"}
pd.fetch (%b_e) {name = "b"}

// Not what the condition computes: that is no order of its arguments.
// CHECK: %d_e, %j_e = pd.while (%zero, %x)
// CHECK: cf.cond_yield (%{{.*}}, %d2, %j)
%d_e, %j_e = pd.while (%zero, %x) cond (%j, %d) {
  %c = pd.less_than (%j, %n)
  %d2 = pd.exp (%d)
  cf.cond_yield (%c, %d2, %j)
} body (%d3, %l) {
  %u = pd.sin (%d3)
  %next = pd.add (%l, %one)
  cf.yield (%next, %u)
}
pd.fetch (%j_e) {name = "j"}
pd.fetch (%d_e) {name = "d"}
