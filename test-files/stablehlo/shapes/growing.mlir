// RUN: pir-opt --pass='refine-shapes{shapes=2}' %s | FileCheck %s
// A dimension that an iteration changes stays open.
// CHECK: stablehlo.while ({{.*}}) cond ({{.*}}: tensor<i32>, %{{.*}}: tensor<?x3xf64>, %{{.*}}: tensor<2x3xf64>)
// CHECK: stablehlo.concatenate {{.*}} : tensor<?x3xf64>
func.func @main(%x: tensor<?x3xf64>) -> (tensor<?x3xf64>, tensor<?x3xf64>) {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %four = stablehlo.constant dense<4> : tensor<i32>
  %i, %y, %z = stablehlo.while(%j = %zero, %a = %x, %b = %x) : tensor<i32>, tensor<?x3xf64>, tensor<?x3xf64>
  cond {
    %go = stablehlo.compare LT, %j, %four : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %go : tensor<i1>
  } do {
    %more = stablehlo.concatenate %a, %b, dim = 0 : (tensor<?x3xf64>, tensor<?x3xf64>) -> tensor<?x3xf64>
    %c = stablehlo.tanh %b : tensor<?x3xf64>
    %k = stablehlo.add %j, %one : tensor<i32>
    stablehlo.return %k, %more, %c : tensor<i32>, tensor<?x3xf64>, tensor<?x3xf64>
  }
  return %y, %z : tensor<?x3xf64>, tensor<?x3xf64>
}
