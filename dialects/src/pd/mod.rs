//! `pd`: tensors, declared in op tables, and control flow.
//!
//! An operation of a table takes tensors as operands and numbers, lists and types as attributes. An `IntArray` or
//! `Scalar` argument of the tables (axes, shapes, factors) is an attribute if it is constant, and otherwise may be an
//! operand after the tensors, in the order of the declaration.

mod arithmetic;
mod branches;
pub(crate) mod composed;
pub(crate) mod condition;
pub(crate) mod control;
mod expr;
pub(crate) mod fold;
mod handles;
pub(crate) mod infer;
mod loops;
#[allow(missing_docs, reason = "each item has the name of its operand, attribute or operation")]
#[allow(
    clippy::should_implement_trait,
    clippy::too_many_arguments,
    reason = "functions are called like the operations, and take what these need"
)]
#[rustfmt::skip]
mod ops;
mod register;
mod rows;
mod verify;

use pir_ir::DialectType;

pub use composed::BERNOULLI;
pub use control::{is_if, is_while, role};
pub use expr::{Building, Emitted, Emitter, Expr, ExprScope, evaluate};
pub use handles::Handles;
pub use ops::*;
pub use register::register;
pub(crate) use rows::INFERENCES;
pub use rows::{family, is_foreign};

pub use crate::typed::{Given, Ints, Number, Operand, Operation, Options, Source, Unary, View};

/// Whether the composition of an operation of PaddlePaddle contains operations that PaddlePaddle does not have. If so,
/// programs for PaddlePaddle use its gradient operation.
pub fn leaves_pd(op: &str) -> bool {
    composed::leaves_pd(op)
}

/// `pd.dense_tensor_array`, an array of tensors of PaddlePaddle's.
pub struct DenseTensorArray;

impl DialectType for DenseTensorArray {
    const NAME: &'static str = "pd.dense_tensor_array";
}
