//! `stablehlo` and `chlo`: what JAX, PyTorch/XLA and TensorFlow lower programs to.
//!
//! The rows are in `ops/`; `compute` states what each operation computes, in operations of `pd`, with XLA's semantics at the
//! edges: so it is run, differentiated and decomposed. Where JAX's derivative at a kink is another than that of these, the operation has
//! its own. The source is the specification of StableHLO 1.x.

mod assembly;
mod attrs;
#[allow(missing_docs, reason = "each item has the name of its operand, attribute or operation")]
#[rustfmt::skip]
pub mod chlo;
pub(crate) mod compute;
mod control;
mod dims;
pub mod fft;
mod fold;
pub mod from_pd;
mod infer;
pub mod linalg;
#[allow(missing_docs, reason = "each item has the name of its operand, attribute or operation")]
#[rustfmt::skip]
pub mod ops;
pub mod refine;
mod register;
mod rows;
#[allow(missing_docs, reason = "each item has the name of its operand, attribute or operation")]
#[rustfmt::skip]
pub mod sdy;
mod verify;

pub use register::register;

/// Whether a name is that of an operation of StableHLO or CHLO.
pub fn has_name(name: &str) -> bool {
    name.starts_with("stablehlo.") || name.starts_with("chlo.")
}
