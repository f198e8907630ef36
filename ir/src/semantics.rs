//! Operations that data defines rather than code: what they compute and how they are differentiated is given as programs.
//!
//! An operation with an expansion is *composite*: other operations can take its place.

use smallvec::SmallVec;

use crate::body::OpView;
use crate::context::Context;
use crate::declare::{Effect, Speculatability, shared_effects};
use crate::diagnostics::Diagnostic;
use crate::entity::{OpId, ValueId};
use crate::registry::{InferArgs, OpDef};
use crate::rewriter::Rewriter;
use crate::types::Type;

/// The values that a vector-Jacobian product may read, where it is emitted.
#[derive(Clone, Copy, Debug)]
pub struct VjpArgs<'a> {
    /// The operands of the operation.
    pub operands: &'a [ValueId],
    /// Its results.
    pub results: &'a [ValueId],
    /// The cotangents of its results, one each.
    pub cotangents: &'a [ValueId],
}

/// The meaning of an operation that a dialect file, or a row of an op table, gives ([`OpDef::semantics`]).
pub trait Semantics: Send + Sync {
    /// Whether it states what the operation computes.
    fn has_expansion(&self) -> bool;

    /// Whether it has an expansion for this operation, if that depends on attributes.
    fn expands(&self, _: OpView<'_>) -> bool {
        self.has_expansion()
    }

    /// Whether it gives the derivative. Without it the expansion is differentiated.
    fn has_vjp(&self) -> bool {
        false
    }

    /// The names of operations that the expansion mentions.
    fn mentions(&self) -> Vec<&str> {
        Vec::new()
    }

    /// The programs, with their descriptions: `computes`, `computes without bias`.
    fn programs(&self) -> Vec<(String, &str)> {
        Vec::new()
    }

    /// Reports errors of the programs, for any operands. Asked once, when all dialects are registered.
    fn check(&self, _: &Context, _: &OpDef) -> Vec<Diagnostic> {
        Vec::new()
    }

    /// The types of the results.
    ///
    /// # Errors
    /// What is wrong with the operands or attributes.
    fn infer(&self, _: InferArgs<'_>) -> Result<SmallVec<[Type; 2]>, String> {
        Err("the types of its results must be given".to_owned())
    }

    /// Whether the operations of the expansion are free of effects; `None` if there is no expansion for these types and
    /// attributes.
    fn is_pure(&self, op: OpView<'_>) -> Option<bool>;

    /// Whether the operations of the expansion may all be speculated.
    fn speculatability(&self, op: OpView<'_>) -> Speculatability;

    /// Whether the expansion holds operations with regions.
    fn has_regions(&self, op: OpView<'_>) -> bool;

    /// Emits the expansion of `op` at the insertion point, with `operands` in place of its own, and returns the
    /// results.
    ///
    /// # Errors
    /// If there is no expansion for these types and attributes.
    fn expand(&self, r: &mut Rewriter<'_>, op: OpId, operands: &[ValueId]) -> Result<SmallVec<[ValueId; 2]>, String>;

    /// Emits the vector-Jacobian product of `op`: the cotangent of each operand that there is a derivative in, by the
    /// index of the operand.
    ///
    /// # Errors
    /// When there is none for these types and attributes.
    fn vjp(&self, _: &mut Rewriter<'_>, _: OpId, _: VjpArgs<'_>) -> Result<SmallVec<[(usize, ValueId); 2]>, String> {
        Err("it has no derivative of its own".to_owned())
    }
}

/// Infers the results of an operation by its semantics; for [`OpDef::infer`].
///
/// # Errors
/// What is wrong with the operands or attributes.
pub fn infer_by_semantics(args: InferArgs<'_>) -> Result<SmallVec<[Type; 2]>, String> {
    match &args.def.semantics {
        Some(semantics) => semantics.infer(args),
        None => Err(format!("the results of `{}` cannot be inferred", args.def.name)),
    }
}

/// The effects of a composite operation: none if its expansion has none, else all.
pub fn effects_by_semantics(op: OpView<'_>) -> SmallVec<[Effect; 2]> {
    if op.semantics().and_then(|semantics| semantics.is_pure(op)) == Some(true) {
        return SmallVec::new();
    }
    shared_effects().collect()
}

/// Whether a composite operation may be speculated: if its expansion may.
pub fn speculate_by_semantics(op: OpView<'_>) -> Speculatability {
    op.semantics()
        .map_or(Speculatability::Never, |semantics| semantics.speculatability(op))
}
