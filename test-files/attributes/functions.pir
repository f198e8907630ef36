// RUN: pir-opt %s | FileCheck %s
// RUN: pir-opt --print-generic %s | FileCheck %s --check-prefix=GENERIC
// RUN: pir-opt --print-generic %s | pir-opt - | FileCheck %s
// RUN: pir-opt --pass=backward %s | FileCheck %s --check-prefix=GRAD
// RUN: pir-opt --pass=backward %s | pir-opt --pass=strip-backward - | FileCheck %s

// Attributes of arguments and results stay with them.
// CHECK: func.func private @f(f32 {test.A}) -> (f32 {test.B})
// CHECK-NEXT: func.func @g(%x: f32 {test.A = 1 : i32}) -> (f32 {test.B}) {
// CHECK: func.func private @h(f32, i1 {test.A, test.C = "c"}) -> (f32, f32 {test.B})
// CHECK: func.func @d(%x: tensor<2xf32> {test.A}) -> (tensor<2xf32> {test.B}) {
// GENERIC: arg_attrs = [{test.A}], function_type = {{.*}}, res_attrs = [{test.B}]
// GENERIC: arg_attrs = [{test.A = 1 : i32}], function_type = {{.*}}, res_attrs = [{test.B}]
// GENERIC: arg_attrs = [{}, {test.A, test.C = "c"}], function_type = {{.*}}, res_attrs = [{}, {test.B}]
// GRAD: func.func @d(%x: tensor<2xf32> {test.A}) -> (tensor<2xf32> {test.B}, tensor<2xf32>) {
func.func private @f(f32 {test.A}) -> (f32 {test.B})
func.func @g(%x: f32 {test.A = 1 : i32}) -> (f32 {test.B}) {
  func.return (%x)
}
func.func private @h(f32, i1 {test.A, test.C = "c"}) -> (f32, f32 {test.B})
func.func @d(%x: tensor<2xf32> {test.A}) -> (tensor<2xf32> {test.B}) {
  %y = pd.tanh (%x) : tensor<2xf32>
  func.return (%y)
}
