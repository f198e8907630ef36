// What TensorFlow's operations give where their equals here would give something else.
//
// RUN: pir-run %S/inputs/select_rows.pb --input x0=[[1,2],[3,4]] | FileCheck --check-prefix=SELECT %s
// SELECT: out = tensor<2x2xf64>
// SELECT-SAME: {{\[\[1, 2\], \[6, 8\]\]}}
//
// RUN: pir-run %S/inputs/prod_whole.pb --input x=[2,3,4] | FileCheck --check-prefix=PROD %s
// PROD: out = tensor<i32> 25
//
// RUN: pir-opt --pass=backward %S/inputs/stop_gradient.pb | pir-run - --input x0=[1,2,3,4,5,6,7,8] | FileCheck --check-prefix=STOP %s
// STOP: x0_grad = tensor<8xf64> [1, 2, 3, 4, 5, 6, 7, 8]
//
// RUN: pir-opt --pass=raise-from-dataflow,backward %S/inputs/stop_gradient_loop.pb | pir-run - --input x=1.1 | FileCheck --check-prefix=LOOP %s
// LOOP: x_grad = tensor<f64> 1.9487
//
// RUN: pir-translate --to=graphdef-text %S/inputs/stop_gradient_loop.pb | FileCheck --check-prefix=WRITTEN %s
// WRITTEN: op: "StopGradient"
//
// A constant of many numbers is one operation, and comes back as it was.
// RUN: pir-opt %S/inputs/large_constant.pb | FileCheck --check-prefix=LARGE %s
// LARGE: %Const = pd.assign_value {shape = [64, 65], dtype = f32, values = dense<"0x6CBF003E7F4607BEBDF2233F
// LARGE-NEXT: %matmul = pd.matmul (%x, %Const)
// RUN: pir-opt --emit=graphdef %S/inputs/large_constant.pb -o %t.pb
// RUN: pir-opt %S/inputs/large_constant.pb | grep assign_value > %t.1.pir
// RUN: pir-opt %t.pb | grep assign_value > %t.2.pir
// RUN: diff %t.1.pir %t.2.pir
