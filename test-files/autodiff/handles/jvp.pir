// RUN: pir-opt --pass=jvp %s | pir-run - --input 'x=[0.3]' --input 'x_tangent=[1]' --input c=true | FileCheck %s
// Tangents lie on stacks beside the values: which stack it is need not be known. A list is carried with its tangents.

%x = pd.data {name = "x", shape = [1], dtype = f64}
%c = pd.data {name = "c", shape = [], dtype = i1}
%s = cf.create_stack ()
%r = cf.create_stack ()
%sin = pd.sin (%x)
cf.push_back (%s, %sin)
cf.push_back (%r, %x)
%t = pd.if (%c) then {
  cf.yield (%s)
} else {
  cf.yield (%r)
} : cf.stack
%u = cf.copy_stack (%t)
%y = cf.pop_back (%u) : tensor<1xf64>
%l = builtin.combine (%y, %y)
%m = pd.if (%c) then {
  %a, %b = builtin.split (%l)
  %ab = pd.multiply (%a, %b)
  %n = builtin.combine (%ab, %b)
  cf.yield (%n)
} else {
  cf.yield (%l)
}
%z, %other = builtin.split (%m)
pd.fetch (%z) {name = "z"}
// The derivative of the square of the sine.
// CHECK: z_tangent = tensor<1xf64> [0.56464247339503
