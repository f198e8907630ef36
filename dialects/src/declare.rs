//! Building blocks of definitions in Rust.

use pir_ir::{Arity, ValueSpec};

/// An operand or a result.
pub(crate) fn value(name: &'static str, ty: &'static str, arity: Arity) -> ValueSpec {
    ValueSpec {
        name: name.into(),
        ty: ty.into(),
        arity,
    }
}
