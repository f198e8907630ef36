// RUN: pir-opt --pass=backward,remat{slots=2} %s | FileCheck %s
// RUN: pir-run --check-grad --input=x=0.3 %s | FileCheck %s --check-prefix=GRAD
// Loops count their trips for `slots`: the first has no counter, that of the second begins with one, and that of the third may overflow.
%x = pd.data {name = "x", shape = [], dtype = f64} : tensor<f64>
%limit = pd.full {shape = [], value = 3.0, dtype = f64} : tensor<f64>
%one = pd.full {shape = [], value = 1, dtype = i64} : tensor<i64>
%four = pd.full {shape = [], value = 4, dtype = i64} : tensor<i64>
%zero = pd.full {shape = [], value = 0, dtype = i64} : tensor<i64>
%a_end = pd.while (%x) cond (%a: tensor<f64>) {
  %go = pd.less_than (%a, %limit) : tensor<i1>
  cf.cond_yield (%go, %a)
} body (%a: tensor<f64>) {
  %e = pd.exp (%a) : tensor<f64>
  cf.yield (%e)
} : tensor<f64>
%i_end, %b_end = pd.while (%one, %a_end) cond (%i: tensor<i64>, %b: tensor<f64>) {
  %go = pd.less_than (%i, %four) : tensor<i1>
  cf.cond_yield (%go, %i, %b)
} body (%i: tensor<i64>, %b: tensor<f64>) {
  %s = pd.sin (%b) : tensor<f64>
  %next = pd.add (%i, %one) : tensor<i64>
  cf.yield (%next, %s)
} : tensor<i64>, tensor<f64>
%j_end, %c_end = pd.while (%zero, %b_end) cond (%j: tensor<i64>, %c: tensor<f64>) {
  %go = pd.not_equal (%j, %four) : tensor<i1>
  cf.cond_yield (%go, %j, %c)
} body (%j: tensor<i64>, %c: tensor<f64>) {
  %s = pd.sin (%c) : tensor<f64>
  %next = pd.add (%j, %one) : tensor<i64>
  cf.yield (%next, %s)
} : tensor<i64>, tensor<f64>
pd.fetch (%c_end) {name = "y"}

// CHECK: %a_end, %trips{{[_0-9]*}} = pd.while (%x, %no_trips
// CHECK: %i_end, %b_end, %trips{{[_0-9]*}} = pd.while (%one, %a_end, %no_trips
// CHECK: %j_end, %c_end, %trips{{[_0-9]*}} = pd.while (%zero, %b_end, %no_trips

// GRAD: x {{.*}} ok
