// Programs for operations without some of their optional operands; several lists of operands, and a list of results.
// RUN: pir-run --load-dialect %S/inputs/optional.yaml --check-grad %s --input x=0.5 --input y=-0.25 --input m=2 | FileCheck %s --check-prefix=CHECKED
// RUN: pir-run --load-dialect %S/inputs/optional.yaml --eager-grad %s --input x=0.5 --input y=-0.25 --input m=2 | FileCheck %s --check-prefix=GRADIENTS
// RUN: pir-opt --load-dialect %S/inputs/optional.yaml --pass=backward %s | pir-run --load-dialect %S/inputs/optional.yaml - --input x=0.5 --input y=-0.25 --input m=2 | FileCheck %s --check-prefix=GRADIENTS
// RUN: pir-opt --load-dialect %S/inputs/optional.yaml --pass=decompose %s | FileCheck %s
// RUN: pir-opt --load-dialect %S/inputs/optional.yaml --show-op my.affine | FileCheck %s --check-prefix=SHOW
// CHECKED: x {{.*}} ok
// CHECKED-NEXT: y {{.*}} ok
// CHECKED-NEXT: m {{.*}} ok
// SHOW: computes without mask
// SHOW: vjp without bias, mask
%x = pd.data {name = "x", shape = [], dtype = f64} : tensor<f64>
%y = pd.data {name = "y", shape = [], dtype = f64} : tensor<f64>
%m = pd.data {name = "m", shape = [], dtype = f64} : tensor<f64>
// CHECK: pd.add (%x, %y)
// CHECK-NEXT: pd.multiply
%a = my.affine (%x, %y, %m)
// CHECK-NEXT: pd.add (%x, %m)
%b = my.affine (%x, %m)
// CHECK-NEXT: pd.tanh (%b)
%c = my.affine (%b)
%l = builtin.combine (%a, %b)
%n = builtin.combine (%c, %x)
%p, %q, %t = my.both (%l, %n)
%r = pd.multiply (%p, %q)
%s = pd.add (%r, %t)
// CHECK-NOT: my.
pd.fetch (%s) {name = "s"}
// GRADIENTS: s = tensor<f64>
// GRADIENTS-NEXT: x_grad = tensor<f64>
// GRADIENTS-NEXT: y_grad = tensor<f64>
// GRADIENTS-NEXT: m_grad = tensor<f64>
