// RUN: pir-run --check-grad %s --input 'x=[0.3, 0.7]' --input n=3 | FileCheck %s
// RUN: pir-opt --pass=backward %s | pir-run --check-grad - --input 'x=[0.3, 0.7]' --input n=3 | FileCheck %s
// A list of tensors of unknown extent with integers between them, changed by branches in a loop.
// CHECK: x {{.*}} ok

%x0 = pd.data {name = "x", shape = [-1], dtype = f64}
%n = pd.data {name = "n", shape = [], dtype = i64}
%zero = pd.full {shape = [], value = 0, dtype = i64}
%one = pd.full {shape = [], value = 1, dtype = i64}
%x = pd.exp (%x0)
%v = builtin.combine (%x, %n, %x0)
%i, %h = pd.while (%zero, %v) cond (%j, %b) {
  %go = pd.less_than (%j, %n)
  cf.cond_yield (%go, %j, %b)
} body (%j, %b) {
  %a1, %a2, %a3 = builtin.split (%b)
  %w = pd.multiply (%a1, %x)
  %s = pd.sin (%w)
  %c = pd.less_than (%j, %one)
  %o = pd.if (%c) then {
     %l = builtin.combine (%s, %a2, %a1)
     cf.yield (%l)
  } else {
     %l = builtin.combine (%a3, %j, %s)
     cf.yield (%l)
  }
  %k = pd.add (%j, %one)
  cf.yield (%k, %o)
}
%e1, %e2, %e3 = builtin.split (%h)
%z = pd.multiply (%e1, %e3)
pd.fetch (%z) {name = "y"}
