// Infinities are read as TensorFlow prints them, and stay where nothing is put; where a slice takes a single element, the mask of its
// begin is void, in numbers that are computed while reading too. A comment may stand in front.
//
// RUN: pir-run %S/inputs/edges.pbtxt | FileCheck %s
//
// CHECK: largest = tensor<5xf32> [-inf, inf, 5, -3.5, 2]
// CHECK-NEXT: smallest = tensor<5xf32> [-inf, inf, 1, -3.5, -inf]
// CHECK-NEXT: element = tensor<f32> -3.5
// CHECK-NEXT: spread = tensor<5xf32> [0, 0, 0, 7, 0]
// CHECK-NEXT: filled = tensor<4x4xf32>
