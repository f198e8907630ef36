// RUN: pir-run --check-grad %s --input 'x=[0.3, 0.7]' --input n=3 | FileCheck %s
// RUN: pir-opt --pass=backward %s | pir-run --check-grad - --input 'x=[0.3, 0.7]' --input n=3 | FileCheck %s
// A loop pushes lists, another one pops them and carries one.
// CHECK: x {{.*}} ok

%x = pd.data {name = "x", shape = [2], dtype = f64}
%n = pd.data {name = "n", shape = [], dtype = i64}
%zero = pd.full {shape = [], value = 0, dtype = i64}
%one = pd.full {shape = [], value = 1, dtype = i64}
%s = cf.create_stack ()
%v0 = builtin.combine (%x, %x)
%e, %h = pd.while (%zero, %x) cond (%i, %a) {
  %go = pd.less_than (%i, %n)
  cf.cond_yield (%go, %i, %a)
} body (%i, %a) {
  %q = pd.sin (%a)
  %l = builtin.combine (%q, %a)
  cf.push_back (%s, %l)
  %k = pd.add (%i, %one)
  cf.yield (%k, %q)
}
%d, %sum = pd.while (%n, %v0) cond (%i, %a) {
  %go = pd.greater_than (%i, %one)
  cf.cond_yield (%go, %i, %a)
} body (%i, %a) {
  %l = cf.pop_back (%s) : vec<tensor<2xf64>, tensor<2xf64>>
  %p, %q = builtin.split (%l)
  %c1, %c2 = builtin.split (%a)
  %m = pd.multiply (%p, %c1)
  %r = builtin.combine (%m, %c2)
  %g = pd.greater_than (%i, %n)
  %r2 = pd.if (%g) then {
    cf.yield (%a)
  } else {
    cf.yield (%r)
  }
  %k = pd.subtract (%i, %one)
  cf.yield (%k, %r2)
}
%z0 = pd.concat (%sum) {axis = 0}
pd.fetch (%z0) {name = "y"}
