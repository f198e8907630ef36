// RUN: pir-run --check-grad %s --input 'x=[0.3, 0.7]' --input n=3 | FileCheck %s
// RUN: pir-opt --pass=backward %s | pir-run --check-grad - --input 'x=[0.3, 0.7]' --input n=3 | FileCheck %s
// A loop that hands a stack round unchanged, by way of a branch.
// CHECK: x {{.*}} ok

%x = pd.data {name = "x", shape = [2], dtype = f64}
%n = pd.data {name = "n", shape = [], dtype = i64}
%zero = pd.full {shape = [], value = 0, dtype = i64}
%one = pd.full {shape = [], value = 1, dtype = i64}
%s = cf.create_stack ()
cf.push_back (%s, %x)
%c = pd.less_than (%zero, %n)
%e, %s2 = pd.while (%zero, %s) cond (%i, %a) {
  %go = pd.less_than (%i, %n)
  cf.cond_yield (%go, %i, %a)
} body (%i, %a) {
  %p = cf.pop_back (%a) : tensor<2xf64>
  %q = pd.sin (%p)
  cf.push_back (%a, %q)
  %same = pd.if (%c) then {
     cf.yield (%s)
  } else {
     cf.yield (%a)
  } : cf.stack
  %k = pd.add (%i, %one)
  cf.yield (%k, %same)
}
%y = cf.pop_back (%s2) : tensor<2xf64>
pd.fetch (%y) {name = "y"}
