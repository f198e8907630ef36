// RUN: pir-opt --emit=stablehlo %s | FileCheck %s
// RUN: pir-run %s --input x=3 --input n=4 | FileCheck %s --check-prefix=VALUE
// RUN: pir-opt --pass=pd-to-stablehlo %s | pir-run - --input x=3 --input n=4 | FileCheck %s --check-prefix=VALUE
// Inputs become arguments of `main`, what is fetched its results. Conditions lose their dimensions, and the remainder gets the sign of
// the divisor.
// VALUE: tensor<1xi64> [4]
// VALUE: tensor<f32> -1
// CHECK: "builtin.module"() <{sym_name = "main"}> ({
// CHECK: "func.func"() <{function_type = (tensor<f32>, tensor<1xi64>) -> (tensor<1xi64>, tensor<f32>), sym_name = "main", sym_visibility = "public"}> ({
// CHECK-NEXT: ^bb0(%x: tensor<f32>, %n: tensor<1xi64>):
// CHECK: "stablehlo.constant"() <{value = dense<0> : tensor<i64>}> : () -> tensor<i64>
// CHECK-NEXT: "stablehlo.broadcast_in_dim"({{.*}}) <{broadcast_dimensions = array<i64>}> : (tensor<i64>) -> tensor<1xi64>
// CHECK: %i, %s = "stablehlo.while"(
// CHECK: "stablehlo.compare"(%{{.*}}) <{compare_type = #stablehlo<comparison_type SIGNED>, comparison_direction = #stablehlo<comparison_direction LT>}> : (tensor<1xi64>, tensor<1xi64>) -> tensor<1xi1>
// CHECK-NEXT: "stablehlo.reshape"(%{{.*}}) : (tensor<1xi1>) -> tensor<i1>
// CHECK-NEXT: "stablehlo.return"(%{{.*}}) : (tensor<i1>) -> ()
// CHECK: "stablehlo.if"(%{{.*}}) ({
// CHECK: "stablehlo.remainder"
%x = pd.data {name = "x", shape = [], dtype = f32} : tensor<f32>
%n = pd.data {name = "n", shape = [1], dtype = i64} : tensor<1xi64>
%zero = pd.full {shape = [1], value = 0, dtype = i64} : tensor<1xi64>
%i, %s = pd.while (%zero, %x) cond (%i: tensor<1xi64>, %s: tensor<f32>) {
  %go = pd.less_than (%i, %n) : tensor<1xi1>
  cf.cond_yield (%go, %i, %s)
} body (%i: tensor<1xi64>, %s: tensor<f32>) {
  %next = pd.increment (%i) : tensor<1xi64>
  %bound = pd.full {shape = [], value = 4.0, dtype = f32} : tensor<f32>
  %small = pd.less_than (%s, %bound) : tensor<i1>
  %t = pd.if (%small) {
    %up = pd.scale (%s) {scale = 2.0} : tensor<f32>
    cf.yield (%up)
  } else {
    %divisor = pd.full {shape = [], value = -4.0, dtype = f32} : tensor<f32>
    %one = pd.full {shape = [], value = 1.0, dtype = f32} : tensor<f32>
    %odd = pd.add (%s, %one) : tensor<f32>
    %rest = pd.remainder (%odd, %divisor) : tensor<f32>
    cf.yield (%rest)
  } : tensor<f32>
  cf.yield (%next, %t)
} : tensor<1xi64>, tensor<f32>
%negative = pd.full {shape = [], value = -3.0, dtype = f32} : tensor<f32>
%out = pd.remainder (%s, %negative) : tensor<f32>
pd.fetch (%i) {name = "i"}
pd.fetch (%out) {name = "out"}
