//! Constraints of a dialect that is defined by data on its operations, types and attributes.

use std::sync::Arc;

use rustc_hash::FxHashMap;

use crate::body::OpView;
use crate::context::Context;
use crate::declare::Text;
use crate::diagnostics::Diagnostic;
use crate::types::Attr;

/// The constraints of a dialect, as IRDL states them ([`ContextBuilder::constrain`](crate::ContextBuilder::constrain)).
pub trait Constraints: Send + Sync {
    /// Reports errors of an operation of the dialect whose counts and attributes match its definition.
    fn verify_op(&self, op: OpView<'_>, errors: &mut Vec<Diagnostic>);

    /// Whether a type, as an attribute, or an attribute of the dialect is as it has to be.
    ///
    /// # Errors
    /// What is wrong with it.
    fn verify_value(&self, ctx: &Context, value: Attr) -> Result<(), String>;
}

/// The constraints of the dialects of a context.
pub(crate) type ConstraintTable = FxHashMap<Text, Arc<dyn Constraints>>;

impl Context {
    /// Constraints of a dialect beyond the definitions of its operations.
    pub fn constraints(&self, dialect: &str) -> Option<&dyn Constraints> {
        let table: &ConstraintTable = self.extension()?;
        table.get(dialect).map(|constraints| &**constraints)
    }

    /// Whether some dialect does.
    pub(crate) fn has_constraints(&self) -> bool {
        self.extension::<ConstraintTable>()
            .is_some_and(|table| !table.is_empty())
    }
}

/// Verifies an operation by the constraints of its dialect; for [`OpDef::verify`](crate::OpDef::verify).
pub fn verify_by_constraints(op: OpView<'_>, errors: &mut Vec<Diagnostic>) {
    let dialect = op.name().split('.').next().unwrap_or_default();
    if let Some(constraints) = op.ctx.constraints(dialect) {
        constraints.verify_op(op, errors);
    }
}
