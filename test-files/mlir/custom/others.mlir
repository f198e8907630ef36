func.func @f() { gpu.barrier return }

// -----

func.func @f(%x: i32) { omp.barrier return }

// -----

func.func @f() { omp.parallel { omp.terminator } return }

// -----

func.func @f(%x: f32) -> f32 { %0 = llvm.intr.fabs(%x) : (f32) -> f32 return %0 : f32 }

// -----

func.func @f() { %0 = llvm.mlir.constant(1 : i32) : i32 return }

// -----

llvm.func @g() { llvm.return }

// -----

func.func @f() { %0 = shape.const_shape [1, 2] : tensor<2xindex> return }

// -----

func.func @f() { %0 = ub.poison : i32 return }

// -----

func.func @f() { acc.wait return }

// -----

func.func @f(%t: tensor<2xf32>) { %0 = tosa.add %t, %t : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32> return }

// -----

func.func @f() { %0 = bufferization.alloc_tensor() : tensor<2xf32> return }

// -----

func.func @f() { %0 = spirv.Constant 1 : i32 return }

// -----

spirv.module Logical GLSL450 { }

// -----

func.func @f() { %t = async.execute { async.yield } return }

// -----

func.func @f() { %0 = emitc.literal "x" : i32 return }

// -----

ml_program.global private @g(dense<4> : tensor<4xi32>) : tensor<4xi32>

// -----

transform.sequence failures(propagate) { ^bb0(%a: !transform.any_op): }

// -----

irdl.dialect @d { irdl.operation @o { } }
