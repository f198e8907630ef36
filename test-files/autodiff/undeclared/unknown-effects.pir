// RUN: not pir-opt --allow-unregistered-dialect --pass=backward %s 2>&1 | FileCheck %s
// The derivative of the product reads %y later, when `x.set` may have changed it.
// CHECK: unknown-effects.pir:9:2: error: `x.set` may change values on which the derivative depends: its effects are unknown
// CHECK: unknown-effects.pir:7:6: note: this depends on such a value

%x = pd.data {name = "x", shape = [], dtype = f64} : tensor<f64>
%y = pd.scale (%x) {scale = 2.0} : tensor<f64>
%a = pd.multiply (%y, %x) : tensor<f64>
"x.set"(%y) : (tensor<f64>) -> ()
pd.fetch (%a) {name = "a"}
