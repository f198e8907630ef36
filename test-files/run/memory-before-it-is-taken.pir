// What does not fit is refused before it is taken: results, and what a kernel needs besides, as the matrix of the windows of a
// convolution of a narrow image.
// RUN: not pir-run --max-memory 100M --function full %s 2>&1 | FileCheck %s --check-prefix=FULL
// RUN: not pir-run --max-memory 100M --function outer %s 2>&1 | FileCheck %s --check-prefix=OUTER
// RUN: not pir-run --max-memory 100M --function columns %s 2>&1 | FileCheck %s --check-prefix=COLUMNS
// RUN: not pir-run --max-memory 100M --eager-grad --function columns %s 2>&1 | FileCheck %s --check-prefix=COLUMNS
// FULL: error: `pd.full` failed: the program takes {{.*}} and 800000064 more would exceed the limit
func.func @full() -> tensor<100000000xf64> {
  %x = pd.full {shape = [100000000], value = 0.5, dtype = f64} : tensor<100000000xf64>
  func.return (%x)
}
// OUTER: error: `pd.outer` failed: the program takes {{.*}} more would exceed the limit
func.func @outer() -> tensor<5000x5000xf64> {
  %x = pd.full {shape = [5000], value = 0.5, dtype = f64} : tensor<5000xf64>
  %y = pd.outer (%x, %x) : tensor<5000x5000xf64>
  func.return (%y)
}
// COLUMNS: error: `pd.conv2d` failed: the program takes {{.*}} and 125440064 more would exceed the limit
func.func @columns() -> tensor<1x8x1250x8xf32> {
  %x = pd.full {shape = [1, 64, 1250, 8], value = 0.5, dtype = f32} : tensor<1x64x1250x8xf32>
  %w = pd.full {shape = [8, 64, 7, 7], value = 0.5, dtype = f32} : tensor<8x64x7x7xf32>
  %y = pd.conv2d (%x, %w) {strides = [1, 1], paddings = [3, 3], dilations = [1, 1], groups = 1, padding_algorithm = "EXPLICIT", data_format = "NCHW"} : tensor<1x8x1250x8xf32>
  func.return (%y)
}
