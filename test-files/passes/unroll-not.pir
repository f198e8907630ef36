// RUN: pir-opt --pass="unroll{factor=4},peel{last=true}" %s | FileCheck %s
// NOTE: checks below are generated; regenerate with BLESS=1
// CHECK: // A condition that prints may not be evaluated once more, and how many iterations are left is not known here: the bound
// CHECK-NEXT: // changes, the counter is a float, the stack tells.
// CHECK-NEXT: %n = pd.data {name = "n", shape = [1], dtype = i64} : tensor<1xi64>
// CHECK-NEXT: %f = pd.data {name = "f", shape = [1], dtype = f64} : tensor<1xf64>
// CHECK-NEXT: %zero = pd.full {shape = [1], value = 0, dtype = i64} : tensor<1xi64>
// CHECK-NEXT: %s = cf.create_stack () : cf.stack
// CHECK-NEXT: %i_end, %m_end = pd.while (%zero, %n) cond (%i: tensor<1xi64>, %m: tensor<1xi64>) {
// CHECK-NEXT:   %go = pd.less_than (%i, %m) : tensor<1xi1>
// CHECK-NEXT:   cf.cond_yield (%go, %i, %m)
// CHECK-NEXT: } body (%i_b: tensor<1xi64>, %m_b: tensor<1xi64>) {
// CHECK-NEXT:   cf.push_back (%s, %m_b)
// CHECK-NEXT:   %m_next = pd.floor_divide (%m_b, %n) : tensor<1xi64>
// CHECK-NEXT:   %i_next = pd.increment (%i_b) {value = 1.0} : tensor<1xi64>
// CHECK-NEXT:   cf.yield (%i_next, %m_next)
// CHECK-NEXT: } : tensor<1xi64>, tensor<1xi64>
// CHECK-NEXT: %f_end = pd.while (%f) cond (%g: tensor<1xf64>) {
// CHECK-NEXT:   %go = pd.less_than (%g, %f) : tensor<1xi1>
// CHECK-NEXT:   cf.cond_yield (%go, %g)
// CHECK-NEXT: } body (%g_b: tensor<1xf64>) {
// CHECK-NEXT:   %g_next = pd.increment (%g_b) {value = 1.0} : tensor<1xf64>
// CHECK-NEXT:   cf.yield (%g_next)
// CHECK-NEXT: } : tensor<1xf64>
// CHECK-NEXT: pd.fetch (%f_end) {name = "f"}
// CHECK-NEXT: pd.while cond {
// CHECK-NEXT:   %empty = cf.is_empty (%s) : i1
// CHECK-NEXT:   %more = pd.logical_not (%empty) : i1
// CHECK-NEXT:   cf.cond_yield (%more)
// CHECK-NEXT: } body {
// CHECK-NEXT:   %popped = cf.pop_back (%s) : tensor<1xi64>
// CHECK-NEXT:   %p = pd.print (%popped) {message = "popped"} : tensor<1xi64>
// CHECK-NEXT:   cf.yield ()
// CHECK-NEXT: }

// A condition that prints may not be evaluated once more, and how many iterations are left is not known here: the bound
// changes, the counter is a float, the stack tells.
%n = pd.data {name = "n", shape = [1], dtype = i64} : tensor<1xi64>
%f = pd.data {name = "f", shape = [1], dtype = f64} : tensor<1xf64>
%zero = pd.full {shape = [1], value = 0, dtype = i64} : tensor<1xi64>
%s = cf.create_stack () : cf.stack
%i_end, %m_end = pd.while (%zero, %n) cond (%i: tensor<1xi64>, %m: tensor<1xi64>) {
  %go = pd.less_than (%i, %m) : tensor<1xi1>
  cf.cond_yield (%go, %i, %m)
} body (%i_b: tensor<1xi64>, %m_b: tensor<1xi64>) {
  cf.push_back (%s, %m_b)
  %m_next = pd.floor_divide (%m_b, %n) : tensor<1xi64>
  %i_next = pd.increment (%i_b) {value = 1.0} : tensor<1xi64>
  cf.yield (%i_next, %m_next)
} : tensor<1xi64>, tensor<1xi64>
%f_end = pd.while (%f) cond (%g: tensor<1xf64>) {
  %go = pd.less_than (%g, %f) : tensor<1xi1>
  cf.cond_yield (%go, %g)
} body (%g_b: tensor<1xf64>) {
  %g_next = pd.increment (%g_b) {value = 1.0} : tensor<1xf64>
  cf.yield (%g_next)
} : tensor<1xf64>
pd.fetch (%f_end) {name = "f"}
pd.while cond {
  %empty = cf.is_empty (%s) : i1
  %more = pd.logical_not (%empty) : i1
  cf.cond_yield (%more)
} body {
  %popped = cf.pop_back (%s) : tensor<1xi64>
  %p = pd.print (%popped) {message = "popped"} : tensor<1xi64>
  cf.yield ()
}
