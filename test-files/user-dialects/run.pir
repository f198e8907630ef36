// Operations of a dialect file are inferred, run, differentiated and checked.
// RUN: pir-opt --load-dialect %S/inputs/my.yaml %s | FileCheck %s
// RUN: pir-run --load-dialect %S/inputs/my.yaml %s --input x=0.5 --input v=2 | FileCheck %s --check-prefix=VALUE
// RUN: pir-run --load-dialect %S/inputs/my.yaml --check-grad %s --input x=rand --input v=rand | FileCheck %s --check-prefix=GRAD
// RUN: pir-opt --load-dialect %S/inputs/my.yaml --pass=backward %s | pir-run --load-dialect %S/inputs/my.yaml - --input x=0.5 --input v=2 | FileCheck %s --check-prefix=BACKWARD
// RUN: pir-run --load-dialect %S/inputs/my.yaml --eager-grad %s --input x=0.5 --input v=2 | FileCheck %s --check-prefix=BACKWARD
// RUN: pir-opt --load-dialect %S/inputs/my.yaml --pass=backward,backward{of=x_grad},canonicalize %s | pir-run --load-dialect %S/inputs/my.yaml - --input x=0.5 --input v=2 | FileCheck %s --check-prefix=SECOND
%x = pd.data {name = "x", shape = [3], dtype = f64} : tensor<3xf64>
%v = pd.data {name = "v", shape = [3], dtype = f64} : tensor<3xf64>
// CHECK: my.softcap (%x) {cap = 2.0} : tensor<3xf64>
%a = my.softcap (%x) {cap = 2.0}
// CHECK: %b, %act = my.geglu (%a, %v) : tensor<3xf64>, tensor<3xf64>
%b, %act = my.geglu (%a, %v)
// CHECK: my.smooth (%b) : tensor<3xf64>
%c = my.smooth (%b)
// CHECK: my.power (%c) {times = 2} : tensor<3xf64>
%d = my.power (%c) {times = 2}
%loss = pd.sum (%d) : tensor<f64>
pd.fetch (%loss) {name = "loss"}
// VALUE: loss = tensor<f64> 10.99685
// GRAD: x {{.*}} ok
// GRAD-NEXT: v {{.*}} ok
// BACKWARD: loss = tensor<f64> 10.99685
// BACKWARD-NEXT: x_grad = tensor<3xf64> [10.618
// BACKWARD-NEXT: v_grad = tensor<3xf64> [2.2097
// SECOND: x_grad_2 = tensor<3xf64> [29.791
