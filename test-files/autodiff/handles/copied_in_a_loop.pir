// RUN: pir-run --check-grad %s --input 'x=[0.3, 0.7]' --input n=3 | FileCheck %s
// RUN: pir-opt --pass=backward %s | pir-run --check-grad - --input 'x=[0.3, 0.7]' --input n=3 | FileCheck %s
// A copy in every iteration: each adds to the cotangents of the original.
// CHECK: x {{.*}} ok

%x = pd.data {name = "x", shape = [2], dtype = f64}
%n = pd.data {name = "n", shape = [], dtype = i64}
%zero = pd.full {shape = [], value = 0, dtype = i64}
%one = pd.full {shape = [], value = 1, dtype = i64}
%c = pd.less_than (%one, %n)
%s = cf.create_stack ()
cf.push_back (%s, %x)
%i, %h = pd.while (%zero, %x) cond (%i, %a) {
  %go = pd.less_than (%i, %n)
  cf.cond_yield (%go, %i, %a)
} body (%i, %a) {
  %t = cf.copy_stack (%s)
  %p = cf.pop_back (%t) : tensor<2xf64>
  %q = pd.sin (%p)
  %w = pd.multiply (%q, %a)
  %k = pd.add (%i, %one)
  cf.yield (%k, %w)
} : tensor<i64>, tensor<2xf64>
pd.fetch (%h) {name = "y"}
