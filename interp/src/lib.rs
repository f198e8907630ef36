//! Tensors, kernels and the structured executor.
