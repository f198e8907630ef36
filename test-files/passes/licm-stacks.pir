// RUN: pir-opt --pass=licm %s | FileCheck %s

// Nothing is moved across pushes and pops, and no stack is made only once for all iterations.

%x = pd.data {name = "x", shape = [4], dtype = f64} : tensor<4xf64>
%s = cf.create_stack () : cf.stack
cf.push_back (%s, %x)
%y = pd.while (%x) cond (%a: tensor<4xf64>) {
  %empty = cf.is_empty (%s) : i1
  %more = pd.logical_not (%empty) : i1
  cf.cond_yield (%more, %a)
} body (%b: tensor<4xf64>) {
  %own = cf.create_stack () : cf.stack
  cf.push_back (%own, %x)
  %p = cf.pop_back (%s) : tensor<4xf64>
  %c = pd.add (%p, %b) : tensor<4xf64>
  cf.yield (%c)
} : tensor<4xf64>
pd.fetch (%y) {name = "y"}

// CHECK:      cf.push_back (%s, %x)
// CHECK-NEXT: pd.while
// CHECK-NEXT:   %empty = cf.is_empty (%s)
// CHECK:      } body
// CHECK-NEXT:   %own = cf.create_stack
// CHECK-NEXT:   cf.push_back (%own, %x)
// CHECK-NEXT:   %p = cf.pop_back (%s)
