// RUN: pir-opt --pass=stablehlo-to-pd-control %s | FileCheck %s
// RUN: pir-opt --pass=stablehlo-to-pd-control %s | pir-run - --input arg0=3 --input arg1=7 | FileCheck %s --check-prefix=VALUE
// RUN: pir-opt --pass=stablehlo-to-pd-control --emit=stablehlo %s | pir-run - --input arg0=3 --input arg1=7 | FileCheck %s --check-prefix=VALUE
// Loops and branches only; an index out of range takes the last branch.
func.func public @main(%arg0: tensor<i64>, %arg1: tensor<i32>) -> (tensor<i64>, tensor<i64>) {
  %0 = stablehlo.while (%arg0) cond (%a: tensor<i64>) {
    %c = stablehlo.constant {value = dense<20> : tensor<i64>} : tensor<i64>
    %1 = stablehlo.compare (%a, %c) {comparison_direction = #stablehlo<comparison_direction LT>, compare_type = #stablehlo<comparison_type SIGNED>} : tensor<i1>
    stablehlo.return (%1)
  } body (%a: tensor<i64>) {
    %1 = stablehlo.add (%a, %a) : tensor<i64>
    stablehlo.return (%1)
  } : tensor<i64>
  %2 = "stablehlo.case"(%arg1) ({
    "stablehlo.return"(%0) : (tensor<i64>) -> ()
  }, {
    "stablehlo.return"(%0) : (tensor<i64>) -> ()
  }, {
    "stablehlo.return"(%arg0) : (tensor<i64>) -> ()
  }) : (tensor<i32>) -> tensor<i64>
  func.return (%0, %2)
}

// CHECK-NOT: stablehlo.while
// CHECK: pd.while (%arg0) cond (%a: tensor<i64>) {
// CHECK: stablehlo.compare
// CHECK: cf.cond_yield
// CHECK: stablehlo.add
// CHECK: pd.if
// CHECK: pd.if
// CHECK-NOT: stablehlo.case
// VALUE: out:0 = tensor<i64> 24
// VALUE-NEXT: out:1 = tensor<i64> 3
