// RUN: pir-run --check-grad %s --input 'x=[0.3, 0.7]' | FileCheck %s
// RUN: pir-opt --pass=backward %s | pir-run --check-grad - --input 'x=[0.3, 0.7]' | FileCheck %s
// A copy that lies on another stack in between.
// CHECK: x {{.*}} ok

%x = pd.data {name = "x", shape = [2], dtype = f64}
%s = cf.create_stack ()
%o = cf.create_stack ()
cf.push_back (%s, %x)
%c = cf.copy_stack (%s)
cf.push_back (%o, %c)
%d = cf.pop_back (%o) : cf.stack
%y0 = cf.pop_back (%d) : tensor<2xf64>
%y1 = cf.pop_back (%s) : tensor<2xf64>
%y = pd.multiply (%y0, %y1)
pd.fetch (%y) {name = "y"}
