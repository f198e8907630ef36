// RUN: pir-opt --allow-unregistered-dialect --pass=licm,cse,sink,canonicalize,sccp,dce %s | FileCheck %s
// RUN: pir-opt --allow-unregistered-dialect -O3 %s | FileCheck %s
// Nothing is known of `x.set`: it may change its operand and what shares its tensor. The two products are not the same.

%x = pd.data {name = "x", shape = [], dtype = f64} : tensor<f64>
%y = pd.scale (%x) {scale = 2.0} : tensor<f64>
%v = pd.reshape (%y) {shape = []} : tensor<f64>
%a = pd.multiply (%y, %v) : tensor<f64>
"x.set"(%y) : (tensor<f64>) -> ()
%b = pd.multiply (%y, %v) : tensor<f64>
%unused = "x.set"(%y) : (tensor<f64>) -> tensor<f64>
%unused_1 = "x.set"(%y) : (tensor<f64>) -> tensor<f64>
%c = pd.multiply (%x, %x) : tensor<f64>
%d = pd.multiply (%x, %x) : tensor<f64>
pd.fetch (%a) {name = "a"}
pd.fetch (%b) {name = "b"}
pd.fetch (%c) {name = "c"}
pd.fetch (%d) {name = "d"}

// CHECK: %a = pd.multiply (%y, %v)
// CHECK-NEXT: "x.set"(%y)
// CHECK-NEXT: %b = pd.multiply (%y, %v)
// CHECK-NEXT: "x.set"(%y)
// CHECK-NEXT: "x.set"(%y)
// What it has nothing to do with is computed once.
// CHECK-NEXT: %c = pd.multiply (%x, %x)
// CHECK-NEXT: pd.fetch (%a)
// CHECK: pd.fetch (%c) {name = "d"}
