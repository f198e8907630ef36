// A dialect file may give its operations an assembly format.
// RUN: pir-opt --load-dialect %S/own-format.yaml %s | FileCheck %s
// RUN: not pir-opt --load-dialect %S/own-format-wrong.yaml %s 2>&1 | FileCheck %s --check-prefix=WRONG

// WRONG: error: unknown directive `dims` in an assembly format

func.func @main(%x: tensor<4x4xf32>) -> tensor<3x2xf32> {
  // CHECK: %y = my.window (%x) {dim = 1, starts = [1, 2]} : tensor<3x2xf32>
  %y = my.window %x, starts = [1, 2], dim = 1 : (tensor<4x4xf32>) -> tensor<3x2xf32>
  // CHECK-NEXT: %z = my.window (%x) {starts = [0, 0]} : tensor<3x2xf32>
  %z = my.window %x, starts = [0, 0] : (tensor<4x4xf32>) -> tensor<3x2xf32>
  // CHECK-NEXT: %w = my.window (%x) {starts = [1]} : tensor<3x2xf32>
  %w = my.window (%x) {starts = [1]} : tensor<3x2xf32>
  return %y : tensor<3x2xf32>
}
