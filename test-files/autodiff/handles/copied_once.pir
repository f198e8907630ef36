// RUN: pir-run --check-grad %s --input 'x=[0.3, 0.7]' | FileCheck %s
// RUN: pir-opt --pass=backward %s | pir-run --check-grad - --input 'x=[0.3, 0.7]' | FileCheck %s
// What is popped from a copy of a stack comes from what was pushed on the original.
// CHECK: x {{.*}} ok

%x = pd.data {name = "x", shape = [2], dtype = f64}
%s = cf.create_stack ()
cf.push_back (%s, %x)
%t = cf.copy_stack (%s)
%y = cf.pop_back (%t) : tensor<2xf64>
%z = pd.sin (%y)
pd.fetch (%z) {name = "y"}
