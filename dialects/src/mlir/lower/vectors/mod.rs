//! Operations of `vector` on tensors, which is what vectors are when a program is executed
//! ([`vectors_to_tensors`](crate::mlir::vectors_to_tensors)): a tensor of which each element is computed by itself, or loops.

mod arrange;
mod memory;
mod reduce;

use pir_ir::{Rewriter, TypeData};

use super::emit::Expand;
use crate::control::Parts;

/// The expansions, by the names of the operations.
pub(super) fn all() -> impl Iterator<Item = (&'static str, Expand)> {
    [arrange::EXPANSIONS, memory::EXPANSIONS, reduce::EXPANSIONS]
        .into_iter()
        .flatten()
        .copied()
}

/// Refuses vectors: where a program is not executed, they are no tensors.
pub(super) fn check(r: &Rewriter<'_>, parts: &Parts<'_>) -> Result<(), String> {
    let values = parts.operands.iter().map(|&value| r.body.value_type(value));
    let is_vector = |ty| matches!(r.ctx.type_data(ty), TypeData::Vector { .. });
    match values.chain(parts.types.iter().copied()).any(is_vector) {
        true => {
            Err("vectors are executed as tensors, if their sizes are known, and have no other meaning here".to_owned())
        }
        false => Ok(()),
    }
}
