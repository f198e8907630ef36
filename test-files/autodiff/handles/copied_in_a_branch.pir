// RUN: pir-run --check-grad %s --input 'x=[0.3, 0.7]' --input n=3 | FileCheck %s
// RUN: pir-opt --pass=backward %s | pir-run --check-grad - --input 'x=[0.3, 0.7]' --input n=3 | FileCheck %s
// One branch reads a copy, the other one changes the stack.
// CHECK: x {{.*}} ok

%x = pd.data {name = "x", shape = [2], dtype = f64}
%n = pd.data {name = "n", shape = [], dtype = i64}
%one = pd.full {shape = [], value = 1, dtype = i64}
%zero = pd.full {shape = [], value = 0, dtype = i64}
%s = cf.create_stack ()
%sx = pd.sin (%x)
cf.push_back (%s, %x)
cf.push_back (%s, %sx)
%i, %h = pd.while (%zero, %x) cond (%i, %a) {
  %go = pd.less_than (%i, %n)
  cf.cond_yield (%go, %i, %a)
} body (%i, %a) {
  %c = pd.less_than (%i, %one)
  %r = pd.if (%c) then {
    %t = cf.copy_stack (%s)
    %p = cf.pop_back (%t) : tensor<2xf64>
    %p2 = cf.pop_back (%t) : tensor<2xf64>
    %q = pd.multiply (%p, %p2)
    cf.yield (%q)
  } else {
    %p = cf.pop_back (%s) : tensor<2xf64>
    cf.push_back (%s, %a)
    cf.yield (%p)
  }
  %w = pd.multiply (%r, %a)
  %k = pd.add (%i, %one)
  cf.yield (%k, %w)
}
%y1 = cf.pop_back (%s) : tensor<2xf64>
%y = pd.multiply (%h, %y1)
pd.fetch (%y) {name = "y"}
