//! Tensors, kernels and the structured executor of pir-opt.

pub mod eager;
pub mod exec;
pub mod kernels;
pub mod tensor;

pub use exec::{ExecError, InputSpec, Options, Outcome, inputs_of, run};
pub use tensor::{DType, Data, Element, Tensor};
