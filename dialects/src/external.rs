//! Dialects of MLIR and of tools based on it. Their operations are read in the generic form only: their custom assembly
//! is unknown, and misinterpreting it would be worse than refusing it.

use pir_ir::{ContextBuilder, Text};

#[rustfmt::skip]
const DIALECTS: &[&str] = &[
    // MLIR's own.
    "acc", "affine", "amdgpu", "amx", "arith", "arm_neon", "arm_sme", "arm_sve", "async", "bufferization", "builtin",
    "cf", "complex", "dlti", "emitc", "func", "gpu", "index", "irdl", "linalg", "llvm", "math", "memref", "mesh",
    "ml_program", "mpi", "nvgpu", "nvvm", "omp", "pdl", "pdl_interp", "polynomial", "ptr", "quant", "rocdl", "scf",
    "shape", "shard", "smt", "sparse_tensor", "spirv", "tensor", "test", "tosa", "transform", "ub", "vcix", "vector",
    "wasmssa", "x86vector", "xegpu", "xevm",
    // OpenXLA, TensorFlow, JAX.
    "chlo", "mhlo", "lmhlo", "sdy", "stablehlo", "vhlo", "tf", "tfl", "tf_device", "tf_executor", "tf_saved_model",
    "thlo", "tpu", "mosaic_gpu",
    // Torch, ONNX, IREE, Triton.
    "torch", "torch_c", "onnx", "krnl", "zlow", "flow", "hal", "iree_codegen", "iree_linalg_ext", "stream", "util", "vm",
    "tt", "ttg", "ttng", "triton_gpu",
    // Flang, ClangIR, CIRCT, Mojo, Enzyme.
    "fir", "hlfir", "cir", "arc", "calyx", "comb", "dc", "esi", "firrtl", "fsm", "handshake", "hw", "ltl", "moore", "om",
    "seq", "sim", "sv", "verif", "kgen", "enzyme",
];

pub(crate) fn register(builder: &mut ContextBuilder) {
    builder.register_external(DIALECTS.iter().map(|&name| Text::Borrowed(name)));
}
