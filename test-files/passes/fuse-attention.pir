// RUN: pir-opt --pass=fuse-attention --split-input-file %s | FileCheck %s

// The mask may be on either side, and the keys may be transposed by an operation.
// CHECK-LABEL: @masked
// CHECK-NEXT: %o = pd.scaled_dot_product_attention (%q, %k, %v, %mask) {scale = 0.5} : tensor<2x3x5x6xf32>
// CHECK-NEXT: func.return (%o)
func.func @masked(%q: tensor<2x3x5x4xf32>, %k: tensor<2x3x7x4xf32>, %v: tensor<2x3x7x6xf32>, %mask: tensor<5x7xf32>) -> tensor<2x3x5x6xf32> {
  %s = pd.matmul (%q, %k) {transpose_y = true}
  %t = pd.scale (%s) {scale = 0.5}
  %u = pd.add (%mask, %t)
  %w = pd.softmax (%u) {axis = 3}
  %o = pd.matmul (%w, %v)
  func.return (%o)
}

// -----

// CHECK-LABEL: @transposed
// CHECK: pd.scaled_dot_product_attention (%q, %k, %v) {scale = 0.25}
func.func @transposed(%q: tensor<5x4xf64>, %k: tensor<7x4xf64>, %v: tensor<7x6xf64>) -> tensor<5x6xf64> {
  %by = pd.full {shape = [], value = 0.25, dtype = f64}
  %kt = pd.transpose (%k) {perm = [1, 0]}
  %s = pd.matmul (%q, %kt)
  %t = pd.multiply (%by, %s)
  %w = pd.softmax (%t)
  %o = pd.matmul (%w, %v)
  func.return (%o)
}

// -----

// Heads and rows of the keys were exchanged, too.
// CHECK-LABEL: @heads
// CHECK: %[[#keys:]] = pd.transpose (%k) {perm = [0, 2, 1, 3]} : tensor<2x3x7x4xf32>
// CHECK-NEXT: pd.scaled_dot_product_attention (%q, %[[#keys]], %v) {scale = 0.25}
// CHECK-NEXT: func.return
func.func @heads(%q: tensor<2x3x5x4xf32>, %k: tensor<2x7x3x4xf32>, %v: tensor<2x3x7x6xf32>) -> tensor<2x3x5x6xf32> {
  %kt = pd.transpose (%k) {perm = [0, 2, -1, 1]}
  %s = pd.matmul (%q, %kt)
  %t = pd.scale (%s) {scale = 0.25}
  %w = pd.softmax (%t)
  %o = pd.matmul (%w, %v)
  func.return (%o)
}

// -----

// The keys are transposed elsewhere, too.
// CHECK-LABEL: @twice
// CHECK-NOT: attention
func.func @twice(%q: tensor<2x3x5x4xf32>, %k: tensor<2x7x3x4xf32>, %v: tensor<2x3x7x6xf32>) -> tensor<2x3x5x6xf32> {
  %kt = pd.transpose (%k) {perm = [0, 2, 3, 1]}
  %s = pd.matmul (%q, %kt)
  %w = pd.softmax (%s)
  %o = pd.matmul (%w, %v)
  pd.print (%kt) {message = ""}
  func.return (%o)
}

// -----

// The weights are a result, the softmax is along another dimension, the scale comes after the mask, half precision rounds each result,
// and a softmax outside of a loop is not computed in it.
// CHECK-LABEL: @not
// CHECK-NOT: attention
func.func @not(%q: tensor<5x4xf32>, %k: tensor<5x4xf32>, %v: tensor<5x5xf32>, %h: tensor<5x5xf16>, %n: tensor<i64>) {
  %s0 = pd.matmul (%q, %k) {transpose_y = true}
  %w0 = pd.softmax (%s0)
  %o0 = pd.matmul (%w0, %v)
  pd.print (%w0) {message = ""}
  pd.print (%o0) {message = ""}
  %s1 = pd.matmul (%q, %k) {transpose_y = true}
  %w1 = pd.softmax (%s1) {axis = 0}
  %o1 = pd.matmul (%w1, %v)
  pd.print (%o1) {message = ""}
  %s2 = pd.matmul (%q, %k) {transpose_y = true}
  %u2 = pd.add (%s2, %v)
  %t2 = pd.scale (%u2) {scale = 2.0}
  %w2 = pd.softmax (%t2)
  %o2 = pd.matmul (%w2, %v)
  pd.print (%o2) {message = ""}
  %s3 = pd.matmul (%h, %h) {transpose_y = true}
  %w3 = pd.softmax (%s3)
  %o3 = pd.matmul (%w3, %h)
  pd.print (%o3) {message = ""}
  %s4 = pd.matmul (%q, %k) {transpose_y = true}
  %w4 = pd.softmax (%s4)
  %zero = pd.full {shape = [], value = 0, dtype = i64}
  %i, %r = pd.while (%zero, %v) cond (%c, %x) {
    %go = pd.less_than (%c, %n)
    cf.cond_yield (%go, %c, %x)
  } body (%d, %y) {
    %next = pd.matmul (%w4, %y)
    %e = pd.increment (%d) {value = 1.0}
    cf.yield (%e, %next)
  }
  pd.print (%r) {message = ""}
  func.return ()
}
