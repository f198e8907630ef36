//! MLIR's own dialects: `arith`, `math`, `scf`, `index`, `ub`, and the operations of `cf` and `func` that ours do not have.
//!
//! Operations without regions are rows in tables, as those of `pd` are; their types are inferred and checked by `infer` and
//! `verify`. Control flow is declared by interfaces (`scf`, `branch`), so that passes work on it as on any other.

pub mod branch;
mod fold;
pub mod from_pd;
mod infer;
pub(crate) mod lower;
mod ops;
mod parallel;
mod rank_zero;
mod register;
mod rows;
pub mod scf;
mod scf_patterns;
mod to_pd;
pub mod types;
mod values;
mod vectors;
mod verify;

pub(crate) use branch::definitions as branches;
pub use lower::is_lowered;
pub use ops::{arith, index, math, memref, tensor, ub};
pub use register::register;
pub use scf_patterns::inline_single_trips;
pub use values::{Count, OPERAND, index_constant, ints, number, sizes};
pub use vectors::{has_vectors, vectors_to_tensors, vectors_to_tensors_in};

/// The help of errors about operations of these dialects.
const HELP: &str = "use the generic form, which `mlir-opt --mlir-print-op-generic` prints";
