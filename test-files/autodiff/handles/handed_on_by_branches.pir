// RUN: pir-run --check-grad %s --input 'x=[0.3, 0.7]' --input c=true | FileCheck %s
// RUN: pir-opt --pass=backward %s | pir-run --check-grad - --input 'x=[0.3, 0.7]' --input c=true | FileCheck %s
// A branch that hands on the same stack on both sides is no choice.
// CHECK: x {{.*}} ok

%x = pd.data {name = "x", shape = [2], dtype = f64}
%c = pd.data {name = "c", shape = [], dtype = i1}
%s = cf.create_stack ()
cf.push_back (%s, %x)
%t = pd.if (%c) then {
  %q = pd.sin (%x)
  cf.push_back (%s, %q)
  cf.yield (%s)
} else {
  cf.yield (%s)
} : cf.stack
%y = cf.pop_back (%t) : tensor<2xf64>
%z = pd.sin (%y)
pd.fetch (%z) {name = "y"}
