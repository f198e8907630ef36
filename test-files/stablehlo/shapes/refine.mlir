// RUN: pir-opt --pass='refine-shapes{shapes="x=4x3"},canonicalize' %s | FileCheck %s
// RUN: pir-opt --input-shape=4 --pass=canonicalize %s | FileCheck %s
// RUN: not pir-opt --input-shape=x=1x3 %s 2>&1 | FileCheck --check-prefix=FAILS %s
// RUN: not pir-opt --input-shape=y=1 %s 2>&1 | FileCheck --check-prefix=UNKNOWN %s
// RUN: not pir-opt --input-shape=x=4x4 %s 2>&1 | FileCheck --check-prefix=STATED %s
// RUN: not pir-opt --pass=inline,backward %s 2>&1 | FileCheck --check-prefix=OPEN %s

// CHECK: func.func @main(%x: tensor<4x3xf64>) -> (tensor<12xf64>, tensor<4x3xf64>, tensor<6x3xf64>)
// CHECK-NOT: shape_assertion
// CHECK-NOT: dynamic
// CHECK: stablehlo.while ({{.*}}) cond ({{.*}}: tensor<4x3xf64>
// CHECK: stablehlo.reshape {{.*}} : tensor<12xf64>
// CHECK: stablehlo.broadcast_in_dim {{.*}} : tensor<4x3xf64>
// CHECK: stablehlo.pad {{.*}} : tensor<6x3xf64>

// FAILS: error: the shapes of the inputs violate an assertion: at least two rows
// UNKNOWN: error: there is no input called `y`
// UNKNOWN: inputs are: x
// STATED: error: the input `x` has type `tensor<?x3xf64>`, which does not match this shape
// OPEN: give the shapes of the inputs: `--input-shape x=4x3`
func.func @main(%x: tensor<?x3xf64>) -> (tensor<?xf64>, tensor<?x3xf64>, tensor<?x3xf64>) {
  %two = stablehlo.constant dense<2> : tensor<i32>
  %n = stablehlo.get_dimension_size %x, dim = 0 : (tensor<?x3xf64>) -> tensor<i32>
  %ok = stablehlo.compare GE, %n, %two : (tensor<i32>, tensor<i32>) -> tensor<i1>
  stablehlo.custom_call @shape_assertion(%ok, %n) {api_version = 2 : i32, error_message = "at least two rows", has_side_effect = true} : (tensor<i1>, tensor<i32>) -> ()
  %0:3 = func.call @part(%n, %x) : (tensor<i32>, tensor<?x3xf64>) -> (tensor<?xf64>, tensor<?x3xf64>, tensor<?x3xf64>)
  return %0#0, %0#1, %0#2 : tensor<?xf64>, tensor<?x3xf64>, tensor<?x3xf64>
}

func.func private @part(%n: tensor<i32>, %x: tensor<?x3xf64>) -> (tensor<?xf64>, tensor<?x3xf64>, tensor<?x3xf64>) {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %three = stablehlo.constant dense<3> : tensor<1xi32>
  %none = stablehlo.constant dense<[0, 0]> : tensor<2xi32>
  %some = stablehlo.constant dense<[1, 0]> : tensor<2xi32>
  %i, %y = stablehlo.while(%j = %zero, %a = %x) : tensor<i32>, tensor<?x3xf64>
  cond {
    %go = stablehlo.compare LT, %j, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %go : tensor<i1>
  } do {
    %b = stablehlo.tanh %a : tensor<?x3xf64>
    %k = stablehlo.add %j, %one : tensor<i32>
    stablehlo.return %k, %b : tensor<i32>, tensor<?x3xf64>
  }
  %m = stablehlo.reshape %n : (tensor<i32>) -> tensor<1xi32>
  %all = stablehlo.multiply %m, %three : tensor<1xi32>
  %flat = stablehlo.dynamic_reshape %y, %all : (tensor<?x3xf64>, tensor<1xi32>) -> tensor<?xf64>
  %shape = stablehlo.concatenate %m, %three, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
  %row = stablehlo.constant dense<[1.0, 2.0, 3.0]> : tensor<3xf64>
  %rows = stablehlo.dynamic_broadcast_in_dim %row, %shape, dims = [1] : (tensor<3xf64>, tensor<2xi32>) -> tensor<?x3xf64>
  %sum = stablehlo.add %y, %rows : tensor<?x3xf64>
  %pad = stablehlo.constant dense<0.0> : tensor<f64>
  %padded = stablehlo.dynamic_pad %sum, %pad, %some, %some, %none : (tensor<?x3xf64>, tensor<f64>, tensor<2xi32>, tensor<2xi32>, tensor<2xi32>) -> tensor<?x3xf64>
  return %flat, %rows, %padded : tensor<?xf64>, tensor<?x3xf64>, tensor<?x3xf64>
}
