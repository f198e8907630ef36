// RUN: pir-run --check-grad %s --input 'x=[0.3, 0.7]' --input n=3 | FileCheck %s
// RUN: pir-opt --pass=backward %s | pir-run --check-grad - --input 'x=[0.3, 0.7]' --input n=3 | FileCheck %s
// A list lies on a stack.
// CHECK: x {{.*}} ok

%x = pd.data {name = "x", shape = [2], dtype = f64}
%n = pd.data {name = "n", shape = [], dtype = i64}
%zero = pd.full {shape = [], value = 0, dtype = i64}
%one = pd.full {shape = [], value = 1, dtype = i64}
%c = pd.less_than (%one, %n)
%s = cf.create_stack ()
%v = builtin.combine (%x, %x)
cf.push_back (%s, %v)
%u = cf.pop_back (%s) : vec<tensor<2xf64>, tensor<2xf64>>
%a, %b = builtin.split (%u)
%z = pd.multiply (%a, %b)
pd.fetch (%z) {name = "y"}
