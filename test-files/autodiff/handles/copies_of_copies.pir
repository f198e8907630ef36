// RUN: pir-run --check-grad %s --input 'x=[0.3, 0.7]' --input n=3 | FileCheck %s
// RUN: pir-opt --pass=backward %s | pir-run --check-grad - --input 'x=[0.3, 0.7]' --input n=3 | FileCheck %s
// Copies of copies, changed after copying, of a stack that a loop fills and another one empties.
// CHECK: x {{.*}} ok

%x = pd.data {name = "x", shape = [2], dtype = f64}
%n = pd.data {name = "n", shape = [], dtype = i64}
%zero = pd.full {shape = [], value = 0, dtype = i64}
%one = pd.full {shape = [], value = 1, dtype = i64}
%s = cf.create_stack ()
%e, %h = pd.while (%zero, %x) cond (%i, %a) {
  %go = pd.less_than (%i, %n)
  cf.cond_yield (%go, %i, %a)
} body (%i, %a) {
  %q = pd.sin (%a)
  cf.push_back (%s, %q)
  %k = pd.add (%i, %one)
  cf.yield (%k, %q)
}
%t = cf.copy_stack (%s)
%u = cf.copy_stack (%t)
%p1 = cf.pop_back (%t) : tensor<2xf64>
%p2 = cf.pop_back (%t) : tensor<2xf64>
%sq = pd.multiply (%p1, %p2)
cf.push_back (%t, %sq)
%v = cf.copy_stack (%t)
%p3 = cf.pop_back (%v) : tensor<2xf64>
%p4 = cf.pop_back (%u) : tensor<2xf64>
%d, %sum = pd.while (%zero, %p3) cond (%i, %a) {
  %no = cf.is_empty (%s)
  %go = pd.logical_not (%no)
  cf.cond_yield (%go, %i, %a)
} body (%i, %a) {
  %w = cf.copy_stack (%s)
  %p = cf.pop_back (%s) : tensor<2xf64>
  %p9 = cf.pop_back (%w) : tensor<2xf64>
  %m = pd.multiply (%p, %a)
  %m2 = pd.add (%m, %p9)
  cf.yield (%i, %m2)
}
%z0 = pd.multiply (%sum, %p4)
%p5 = cf.pop_back (%t) : tensor<2xf64>
%z = pd.multiply (%z0, %p5)
pd.fetch (%z) {name = "y"}
