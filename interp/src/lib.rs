//! Tensors, kernels, and the executors of pir-opt: of structured programs and of dataflow graphs.

#![forbid(unsafe_code)]

pub mod dataflow;
pub mod eager;
pub mod exec;
pub mod kernels;
mod parallel;
mod simd;
pub mod tensor;
#[cfg(test)]
mod testing;

pub use exec::{
    ExecError, InputSpec, Lower, Lowering, Options, Outcome, entry_name, function_names, inputs_of, is_late, run,
    run_timed, runnable,
};
pub use tensor::{DType, Data, Element, Tensor};
