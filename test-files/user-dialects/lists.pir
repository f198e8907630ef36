// An operand that is a list is one value in `computes` and `vjp`, also where it is given as one.
// RUN: pir-run --load-dialect %S/inputs/lists.yaml --check-grad %s --input x=0.5 --input y=-0.25 --input w=2 --input v=3 | FileCheck %s --check-prefix=CHECKED
// RUN: pir-run --load-dialect %S/inputs/lists.yaml --eager-grad %s --input x=0.5 --input y=-0.25 --input w=2 --input v=3 | FileCheck %s --check-prefix=GRADIENTS
// RUN: pir-opt --load-dialect %S/inputs/lists.yaml --pass=backward %s | pir-run --load-dialect %S/inputs/lists.yaml - --input x=0.5 --input y=-0.25 --input w=2 --input v=3 | FileCheck %s --check-prefix=GRADIENTS
// RUN: pir-opt --load-dialect %S/inputs/lists.yaml --pass=decompose %s | FileCheck %s
// RUN: pir-opt --load-dialect %S/inputs/lists.yaml --show-op my.product | FileCheck %s --check-prefix=SHOW
// The product of what it computes, and the derivative of its own, both where the list is two operands and where it is one value.
// CHECKED: x {{.*}} ok
// CHECKED-NEXT: y {{.*}} ok
// CHECKED-NEXT: v {{.*}} ok
// SHOW: %xs: Tensor[], variadic
%x = pd.data {name = "x", shape = [], dtype = f64} : tensor<f64>
%y = pd.data {name = "y", shape = [], dtype = f64} : tensor<f64>
%w = pd.data {name = "w", shape = [], dtype = f64, stop_gradient = true} : tensor<f64>
%v = pd.data {name = "v", shape = [], dtype = f64} : tensor<f64>
// CHECK: builtin.combine (%x, %y, %x)
// CHECK-NEXT: pd.add_n
// CHECK-NEXT: pd.tanh
%a = my.product (%x, %y, %x, %w)
// CHECK: %list = builtin.combine (%y, %x)
%list = builtin.combine (%y, %x)
%b = my.product (%list, %v)
%c = my.sum3 (%w, %x, %y, %v)
%d = my.sum3 (%w, %list, %v)
%e = pd.multiply (%a, %b)
%f = pd.multiply (%c, %d)
%g = pd.add (%e, %f)
// CHECK-NOT: my.
pd.fetch (%g) {name = "g"}
// GRADIENTS: g = tensor<f64> 13.18335899107
// GRADIENTS-NEXT: x_grad = tensor<f64> 19.33567665676
// GRADIENTS-NEXT: y_grad = tensor<f64> 18.45898666772
// GRADIENTS-NEXT: v_grad = tensor<f64> 7.31111966369
