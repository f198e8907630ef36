// Tensors of unknown shapes cannot be recorded in buffers, and some operations have no derivative.
// RUN: not pir-opt --split-input-file --pass='backward,lower-stacks{to=memref}' %s 2>&1 | FileCheck %s

// CHECK: a stack cannot become a buffer: tensors can only be recorded if all stacks share one buffer and their shapes are static
func.func @f(%t: tensor<?xf64>, %n: index) -> tensor<?xf64> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %s = scf.for %i = %c0 to %n step %c1 iter_args(%a = %t) -> (tensor<?xf64>) {
    %b = arith.mulf %a, %a : tensor<?xf64>
    scf.yield %b : tensor<?xf64>
  }
  return %s : tensor<?xf64>
}

// -----

// CHECK: `tensor.reshape` has no derivative
func.func @f(%t: tensor<4xf64>, %shape: tensor<2xindex>) -> tensor<?x?xf64> {
  %s = tensor.reshape %t(%shape) : (tensor<4xf64>, tensor<2xindex>) -> tensor<?x?xf64>
  return %s : tensor<?x?xf64>
}
