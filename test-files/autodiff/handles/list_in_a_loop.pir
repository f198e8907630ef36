// RUN: pir-run --check-grad %s --input 'x=[0.3, 0.7]' --input n=3 | FileCheck %s
// RUN: pir-opt --pass=backward %s | pir-run --check-grad - --input 'x=[0.3, 0.7]' --input n=3 | FileCheck %s
// A loop carries a list.
// CHECK: x {{.*}} ok

%x = pd.data {name = "x", shape = [2], dtype = f64}
%n = pd.data {name = "n", shape = [], dtype = i64}
%zero = pd.full {shape = [], value = 0, dtype = i64}
%one = pd.full {shape = [], value = 1, dtype = i64}
%c = pd.less_than (%one, %n)
%v = builtin.combine (%x, %x)
%i, %h = pd.while (%zero, %v) cond (%j, %b) {
  %go = pd.less_than (%j, %n)
  cf.cond_yield (%go, %j, %b)
} body (%j, %b) {
  %a1, %a2 = builtin.split (%b)
  %w = pd.multiply (%a1, %a2)
  %s = pd.sin (%w)
  %o = builtin.combine (%a2, %s)
  %k = pd.add (%j, %one)
  cf.yield (%k, %o)
} : tensor<i64>, vec<tensor<2xf64>, tensor<2xf64>>
%e1, %e2 = builtin.split (%h)
%z = pd.multiply (%e1, %e2)
pd.fetch (%z) {name = "y"}
