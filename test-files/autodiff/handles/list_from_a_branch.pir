// RUN: pir-run --check-grad %s --input 'x=[0.3, 0.7]' --input c=true | FileCheck %s
// RUN: pir-opt --pass=backward %s | pir-run --check-grad - --input 'x=[0.3, 0.7]' --input c=true | FileCheck %s
// A branch gives a list.
// CHECK: x {{.*}} ok

%x = pd.data {name = "x", shape = [2], dtype = f64}
%c = pd.data {name = "c", shape = [], dtype = i1}
%v = builtin.combine (%x, %x)
%h = pd.if (%c) then {
  %a, %b = builtin.split (%v)
  %w = pd.multiply (%a, %b)
  %o = builtin.combine (%b, %w)
  cf.yield (%o)
} else {
  cf.yield (%v)
} : vec<tensor<2xf64>, tensor<2xf64>>
%z = pd.concat (%h) {axis = 0}
pd.fetch (%z) {name = "y"}
