// RUN: pir-run --check-grad %s --input 'x=[0.3, 0.7]' --input n=3 | FileCheck %s
// RUN: pir-opt --pass=backward %s | pir-run --check-grad - --input 'x=[0.3, 0.7]' --input n=3 | FileCheck %s
// What is popped from a stack and from its copy is the same value: cotangents add up.
// CHECK: x {{.*}} ok

%x = pd.data {name = "x", shape = [2], dtype = f64}
%n = pd.data {name = "n", shape = [], dtype = i64}
%zero = pd.full {shape = [], value = 0, dtype = i64}
%one = pd.full {shape = [], value = 1, dtype = i64}
%c = pd.less_than (%one, %n)
%s = cf.create_stack ()
%k = pd.sin (%x)
cf.push_back (%s, %k)
%t = cf.copy_stack (%s)
%y = cf.pop_back (%t) : tensor<2xf64>
%y2 = cf.pop_back (%s) : tensor<2xf64>
%z = pd.multiply (%y, %y2)
pd.fetch (%z) {name = "y"}
