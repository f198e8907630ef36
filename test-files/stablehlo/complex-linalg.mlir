// Factorizations of complex matrices, against differences in the real and the imaginary parts of a matrix.
// RUN: pir-run --check-grad --function solved --input 'x=[[1.5, -0.5], [0.25, 2.0]]' --input 'y=[[0.3, 0.7], [-1.0, 0.4]]' %s
// RUN: pir-run --check-grad --function factored --input 'x=[[1.5, -0.5], [0.25, 2.0]]' --input 'y=[[0.3, 0.7], [-1.0, 0.4]]' %s
// RUN: pir-run --check-grad --function reflected --input 'x=[[1.5, -0.5], [0.25, 2.0]]' --input 'y=[[0.3, 0.7], [-1.0, 0.4]]' %s
// RUN: pir-run --check-grad --function decomposed --input 'x=[[1.5, -0.5], [0.25, 2.0]]' --input 'y=[[0.3, 0.7], [-1.0, 0.4]]' %s
// RUN: pir-run --check-grad --function singular --input 'x=[[1.5, -0.5], [0.25, 2.0]]' --input 'y=[[0.3, 0.7], [-1.0, 0.4]]' %s
// RUN: pir-run --check-grad --function general --input 'x=[[1.5, -0.5], [0.25, 2.0]]' --input 'y=[[0.3, 0.7], [-1.0, 0.4]]' %s
// RUN: pir-run --function unit --input 'x=[[1.5, -0.5], [0.25, 2.0]]' --input 'y=[[0.3, 0.7], [-1.0, 0.4]]' %s | FileCheck %s
// RUN: not pir-run --function misnamed --input 'x=[[1.5, -0.5], [0.25, 2.0]]' --input 'y=[[0.3, 0.7], [-1.0, 0.4]]' %s 2>&1 | FileCheck %s --check-prefix=NAME
module {
  // The weighted sum of the parts.
  func.func private @weighted(%a: tensor<2x2xcomplex<f64>>) -> tensor<f64> {
    %w = stablehlo.constant dense<[[0.5, -1.0], [2.0, 0.75]]> : tensor<2x2xf64>
    %v = stablehlo.constant dense<[[1.5, 0.25], [-0.5, 1.0]]> : tensor<2x2xf64>
    %zero = stablehlo.constant dense<0.0> : tensor<f64>
    %re = stablehlo.real %a : (tensor<2x2xcomplex<f64>>) -> tensor<2x2xf64>
    %im = stablehlo.imag %a : (tensor<2x2xcomplex<f64>>) -> tensor<2x2xf64>
    %0 = stablehlo.multiply %re, %w : tensor<2x2xf64>
    %1 = stablehlo.multiply %im, %v : tensor<2x2xf64>
    %2 = stablehlo.add %0, %1 : tensor<2x2xf64>
    %3 = stablehlo.reduce(%2 init: %zero) applies stablehlo.add across dimensions = [0, 1] : (tensor<2x2xf64>, tensor<f64>) -> tensor<f64>
    return %3 : tensor<f64>
  }
  func.func private @adjoint(%a: tensor<2x2xcomplex<f64>>) -> tensor<2x2xcomplex<f64>> {
    %0 = stablehlo.transpose %a, dims = [1, 0] : (tensor<2x2xcomplex<f64>>) -> tensor<2x2xcomplex<f64>>
    %1 = stablehlo.real %0 : (tensor<2x2xcomplex<f64>>) -> tensor<2x2xf64>
    %2 = stablehlo.imag %0 : (tensor<2x2xcomplex<f64>>) -> tensor<2x2xf64>
    %3 = stablehlo.negate %2 : tensor<2x2xf64>
    %4 = stablehlo.complex %1, %3 : tensor<2x2xcomplex<f64>>
    return %4 : tensor<2x2xcomplex<f64>>
  }
  // A positive matrix.
  func.func private @positive(%a: tensor<2x2xcomplex<f64>>) -> tensor<2x2xcomplex<f64>> {
    %h = call @adjoint(%a) : (tensor<2x2xcomplex<f64>>) -> tensor<2x2xcomplex<f64>>
    %p = stablehlo.dot_general %a, %h, contracting_dims = [1] x [0] : (tensor<2x2xcomplex<f64>>, tensor<2x2xcomplex<f64>>) -> tensor<2x2xcomplex<f64>>
    %one = stablehlo.constant dense<[[(1.0, 0.0), (0.0, 0.0)], [(0.0, 0.0), (1.0, 0.0)]]> : tensor<2x2xcomplex<f64>>
    %q = stablehlo.add %p, %one : tensor<2x2xcomplex<f64>>
    return %q : tensor<2x2xcomplex<f64>>
  }
  func.func @solved(%x: tensor<2x2xf64>, %y: tensor<2x2xf64>) -> tensor<f64> {
    %a = stablehlo.complex %x, %y : tensor<2x2xcomplex<f64>>
    %p = call @positive(%a) : (tensor<2x2xcomplex<f64>>) -> tensor<2x2xcomplex<f64>>
    %l = stablehlo.cholesky %p, lower = true : tensor<2x2xcomplex<f64>>
    %u = stablehlo.cholesky %p, lower = false : tensor<2x2xcomplex<f64>>
    %0 = "stablehlo.triangular_solve"(%l, %a) {left_side = true, lower = true, unit_diagonal = false, transpose_a = #stablehlo<transpose ADJOINT>} : (tensor<2x2xcomplex<f64>>, tensor<2x2xcomplex<f64>>) -> tensor<2x2xcomplex<f64>>
    %1 = "stablehlo.triangular_solve"(%u, %0) {left_side = false, lower = false, unit_diagonal = true, transpose_a = #stablehlo<transpose TRANSPOSE>} : (tensor<2x2xcomplex<f64>>, tensor<2x2xcomplex<f64>>) -> tensor<2x2xcomplex<f64>>
    %2 = stablehlo.add %1, %u : tensor<2x2xcomplex<f64>>
    %3 = call @weighted(%2) : (tensor<2x2xcomplex<f64>>) -> tensor<f64>
    return %3 : tensor<f64>
  }
  func.func @factored(%x: tensor<2x2xf64>, %y: tensor<2x2xf64>) -> tensor<f64> {
    %a = stablehlo.complex %x, %y : tensor<2x2xcomplex<f64>>
    %0:3 = stablehlo.custom_call @lapack_zgetrf_ffi(%a) {mhlo.backend_config = {}, operand_layouts = [dense<[0, 1]> : tensor<2xindex>], result_layouts = [dense<[0, 1]> : tensor<2xindex>, dense<0> : tensor<1xindex>, dense<> : tensor<0xindex>]} : (tensor<2x2xcomplex<f64>>) -> (tensor<2x2xcomplex<f64>>, tensor<2xi32>, tensor<i32>)
    %1 = call @weighted(%0#0) : (tensor<2x2xcomplex<f64>>) -> tensor<f64>
    return %1 : tensor<f64>
  }
  func.func @reflected(%x: tensor<2x2xf64>, %y: tensor<2x2xf64>) -> tensor<f64> {
    %a = stablehlo.complex %x, %y : tensor<2x2xcomplex<f64>>
    %0:2 = stablehlo.custom_call @lapack_zgeqrf_ffi(%a) {mhlo.backend_config = {}, operand_layouts = [dense<[0, 1]> : tensor<2xindex>], result_layouts = [dense<[0, 1]> : tensor<2xindex>, dense<0> : tensor<1xindex>]} : (tensor<2x2xcomplex<f64>>) -> (tensor<2x2xcomplex<f64>>, tensor<2xcomplex<f64>>)
    %1 = stablehlo.custom_call @lapack_zungqr_ffi(%0#0, %0#1) {mhlo.backend_config = {}, operand_layouts = [dense<[0, 1]> : tensor<2xindex>, dense<0> : tensor<1xindex>], result_layouts = [dense<[0, 1]> : tensor<2xindex>]} : (tensor<2x2xcomplex<f64>>, tensor<2xcomplex<f64>>) -> tensor<2x2xcomplex<f64>>
    %2 = stablehlo.add %1, %0#0 : tensor<2x2xcomplex<f64>>
    %3 = call @weighted(%2) : (tensor<2x2xcomplex<f64>>) -> tensor<f64>
    return %3 : tensor<f64>
  }
  // The projection on the eigenvectors, scaled by the eigenvalues' sines: what does not depend on the factors of vectors.
  func.func @decomposed(%x: tensor<2x2xf64>, %y: tensor<2x2xf64>) -> tensor<f64> {
    %a = stablehlo.complex %x, %y : tensor<2x2xcomplex<f64>>
    %p = call @positive(%a) : (tensor<2x2xcomplex<f64>>) -> tensor<2x2xcomplex<f64>>
    %0:3 = stablehlo.custom_call @lapack_zheevd_ffi(%p) {mhlo.backend_config = {mode = 86 : ui8, uplo = 85 : ui8}, operand_layouts = [dense<[0, 1]> : tensor<2xindex>], result_layouts = [dense<[0, 1]> : tensor<2xindex>, dense<0> : tensor<1xindex>, dense<> : tensor<0xindex>]} : (tensor<2x2xcomplex<f64>>) -> (tensor<2x2xcomplex<f64>>, tensor<2xf64>, tensor<i32>)
    %s = stablehlo.sine %0#1 : tensor<2xf64>
    %r = stablehlo.broadcast_in_dim %s, dims = [1] : (tensor<2xf64>) -> tensor<2x2xf64>
    %c = stablehlo.convert %r : (tensor<2x2xf64>) -> tensor<2x2xcomplex<f64>>
    %v = stablehlo.multiply %0#0, %c : tensor<2x2xcomplex<f64>>
    %h = call @adjoint(%0#0) : (tensor<2x2xcomplex<f64>>) -> tensor<2x2xcomplex<f64>>
    %q = stablehlo.dot_general %v, %h, contracting_dims = [1] x [0] : (tensor<2x2xcomplex<f64>>, tensor<2x2xcomplex<f64>>) -> tensor<2x2xcomplex<f64>>
    %1 = call @weighted(%q) : (tensor<2x2xcomplex<f64>>) -> tensor<f64>
    return %1 : tensor<f64>
  }
  func.func @singular(%x: tensor<2x2xf64>, %y: tensor<2x2xf64>) -> tensor<f64> {
    %a = stablehlo.complex %x, %y : tensor<2x2xcomplex<f64>>
    %0:5 = stablehlo.custom_call @lapack_zgesdd_ffi(%a) {mhlo.backend_config = {mode = 83 : ui8}, operand_layouts = [dense<[0, 1]> : tensor<2xindex>], result_layouts = [dense<[0, 1]> : tensor<2xindex>, dense<0> : tensor<1xindex>, dense<[0, 1]> : tensor<2xindex>, dense<[0, 1]> : tensor<2xindex>, dense<> : tensor<0xindex>]} : (tensor<2x2xcomplex<f64>>) -> (tensor<2x2xcomplex<f64>>, tensor<2xf64>, tensor<2x2xcomplex<f64>>, tensor<2x2xcomplex<f64>>, tensor<i32>)
    %s = stablehlo.sine %0#1 : tensor<2xf64>
    %r = stablehlo.broadcast_in_dim %s, dims = [1] : (tensor<2xf64>) -> tensor<2x2xf64>
    %c = stablehlo.convert %r : (tensor<2x2xf64>) -> tensor<2x2xcomplex<f64>>
    %v = stablehlo.multiply %0#2, %c : tensor<2x2xcomplex<f64>>
    %q = stablehlo.dot_general %v, %0#3, contracting_dims = [1] x [0] : (tensor<2x2xcomplex<f64>>, tensor<2x2xcomplex<f64>>) -> tensor<2x2xcomplex<f64>>
    %1 = call @weighted(%q) : (tensor<2x2xcomplex<f64>>) -> tensor<f64>
    return %1 : tensor<f64>
  }
  // Eigenvalues and right eigenvectors, and the left ones without their factors.
  func.func @general(%x: tensor<2x2xf64>, %y: tensor<2x2xf64>) -> tensor<f64> {
    %a = stablehlo.complex %x, %y : tensor<2x2xcomplex<f64>>
    %0:4 = stablehlo.custom_call @lapack_zgeev_ffi(%a) {mhlo.backend_config = {compute_left = 86 : ui8, compute_right = 86 : ui8}, operand_layouts = [dense<[0, 1]> : tensor<2xindex>], result_layouts = [dense<0> : tensor<1xindex>, dense<[0, 1]> : tensor<2xindex>, dense<[0, 1]> : tensor<2xindex>, dense<> : tensor<0xindex>]} : (tensor<2x2xcomplex<f64>>) -> (tensor<2xcomplex<f64>>, tensor<2x2xcomplex<f64>>, tensor<2x2xcomplex<f64>>, tensor<i32>)
    %s = stablehlo.sine %0#0 : tensor<2xcomplex<f64>>
    %r = stablehlo.broadcast_in_dim %s, dims = [1] : (tensor<2xcomplex<f64>>) -> tensor<2x2xcomplex<f64>>
    %v = stablehlo.multiply %0#2, %r : tensor<2x2xcomplex<f64>>
    %h = call @adjoint(%0#1) : (tensor<2x2xcomplex<f64>>) -> tensor<2x2xcomplex<f64>>
    %q = stablehlo.dot_general %v, %h, contracting_dims = [1] x [0] : (tensor<2x2xcomplex<f64>>, tensor<2x2xcomplex<f64>>) -> tensor<2x2xcomplex<f64>>
    %1 = call @weighted(%q) : (tensor<2x2xcomplex<f64>>) -> tensor<f64>
    return %1 : tensor<f64>
  }
  // CHECK: = tensor<2x2xcomplex<f64>>
  func.func @unit(%x: tensor<2x2xf64>, %y: tensor<2x2xf64>) -> tensor<2x2xcomplex<f64>> {
    %a = stablehlo.complex %x, %y : tensor<2x2xcomplex<f64>>
    %p = call @positive(%a) : (tensor<2x2xcomplex<f64>>) -> tensor<2x2xcomplex<f64>>
    %l = stablehlo.cholesky %p, lower = true : tensor<2x2xcomplex<f64>>
    %h = call @adjoint(%l) : (tensor<2x2xcomplex<f64>>) -> tensor<2x2xcomplex<f64>>
    %q = stablehlo.dot_general %l, %h, contracting_dims = [1] x [0] : (tensor<2x2xcomplex<f64>>, tensor<2x2xcomplex<f64>>) -> tensor<2x2xcomplex<f64>>
    %d = stablehlo.subtract %q, %p : tensor<2x2xcomplex<f64>>
    return %d : tensor<2x2xcomplex<f64>>
  }
  // NAME: `@lapack_zorgqr_ffi` is not supported
  func.func @misnamed(%x: tensor<2x2xf64>, %y: tensor<2x2xf64>) -> tensor<2x2xcomplex<f64>> {
    %a = stablehlo.complex %x, %y : tensor<2x2xcomplex<f64>>
    %0:2 = stablehlo.custom_call @lapack_zgeqrf_ffi(%a) {mhlo.backend_config = {}, operand_layouts = [dense<[0, 1]> : tensor<2xindex>], result_layouts = [dense<[0, 1]> : tensor<2xindex>, dense<0> : tensor<1xindex>]} : (tensor<2x2xcomplex<f64>>) -> (tensor<2x2xcomplex<f64>>, tensor<2xcomplex<f64>>)
    %1 = stablehlo.custom_call @lapack_zorgqr_ffi(%0#0, %0#1) {mhlo.backend_config = {}, operand_layouts = [dense<[0, 1]> : tensor<2xindex>, dense<0> : tensor<1xindex>], result_layouts = [dense<[0, 1]> : tensor<2xindex>]} : (tensor<2x2xcomplex<f64>>, tensor<2xcomplex<f64>>) -> tensor<2x2xcomplex<f64>>
    return %1 : tensor<2x2xcomplex<f64>>
  }
}
