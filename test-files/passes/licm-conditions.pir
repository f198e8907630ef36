// RUN: pir-opt --pass=licm %s | FileCheck %s

// What may fail leaves the cond region, which runs at least once, but not the body, which need not run.

%n = pd.data {name = "n", shape = [1], dtype = i64} : tensor<1xi64>
%m = pd.data {name = "m", shape = [1], dtype = i64} : tensor<1xi64>
%x = pd.data {name = "x", shape = [4], dtype = f64} : tensor<4xf64>
%i_end, %y = pd.while (%n, %x) cond (%i: tensor<1xi64>, %a: tensor<4xf64>) {
  %q = pd.floor_divide (%n, %m) : tensor<1xi64>
  %go = pd.less_than (%i, %q) : tensor<1xi1>
  cf.cond_yield (%go, %i, %a)
} body (%i_b: tensor<1xi64>, %a_b: tensor<4xf64>) {
  %r = pd.remainder (%n, %m) : tensor<1xi64>
  %t = pd.tanh (%x) : tensor<4xf64>
  %pos = pd.greater_than (%n, %m) : tensor<1xi1>
  %whole = pd.if (%pos) then {
    %s = pd.sin (%t) : tensor<4xf64>
    cf.yield (%s)
  } else {
    cf.yield (%t)
  } : tensor<4xf64>
  %shown = pd.print (%x) {message = "x"} : tensor<4xf64>
  %next = pd.add (%i_b, %r) : tensor<1xi64>
  %b = pd.multiply (%a_b, %whole) : tensor<4xf64>
  cf.yield (%next, %b)
} : tensor<1xi64>, tensor<4xf64>
pd.fetch (%y) {name = "y"}

// CHECK:      %q = pd.floor_divide (%n, %m)
// CHECK-NEXT: %t = pd.tanh (%x)
// CHECK-NEXT: %pos = pd.greater_than (%n, %m)
// CHECK-NEXT: %whole = pd.if (%pos) then {
// CHECK-NEXT:   pd.sin (%t)
// CHECK:      pd.while (%n, %x) cond
// CHECK-NEXT:   %go = pd.less_than (%i, %q)
// CHECK:      } body
// CHECK-NEXT:   %r = pd.remainder (%n, %m)
// CHECK-NEXT:   %shown = pd.print (%x)
// CHECK-NEXT:   %next = pd.add (%i_b, %r)
