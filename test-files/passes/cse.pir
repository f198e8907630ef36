// RUN: pir-opt --pass=cse %s | FileCheck %s

// Inside the loop the product is known from outside; the order of the factors does not matter.

%x = pd.data {name = "x", shape = [4], dtype = f64} : tensor<4xf64>
%c = pd.data {name = "c", shape = [1], dtype = i1} : tensor<1xi1>
%c_x = pd.data {name = "c_x", shape = [4], dtype = f64} : tensor<4xf64>
%p = pd.multiply (%x, %c_x) : tensor<4xf64>
%y = pd.if (%c) then {
  %q = pd.multiply (%c_x, %x) : tensor<4xf64>
  %s = pd.subtract (%x, %c_x) : tensor<4xf64>
  %t = pd.add (%q, %s) : tensor<4xf64>
  cf.yield (%t)
} else {
  %s2 = pd.subtract (%c_x, %x) : tensor<4xf64>
  cf.yield (%s2)
} : tensor<4xf64>
%z = pd.add (%y, %p) : tensor<4xf64>
pd.fetch (%z) {name = "z"}

// CHECK:      %p = pd.multiply (%x, %c_x)
// CHECK-NEXT: %y = pd.if (%c) then {
// CHECK-NEXT:   %s = pd.subtract (%x, %c_x)
// CHECK-NEXT:   %t = pd.add (%p, %s)
// CHECK:      } else {
// CHECK-NEXT:   %s2 = pd.subtract (%c_x, %x)
