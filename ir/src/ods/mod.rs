//! MLIR's own operations as text: what is declared (ODS) of names, types and the custom assembly.
//!
//! A row is what MLIR's `.td` files declare of an operation, as far as reading and printing need it:
//!
//! ```text
//! cmpi(lhs: T, rhs: T) {predicate: enum i64 eq=0 ne=1} -> (result: i1(lhs))
//!   $predicate `,` $lhs `,` $rhs attr-dict `:` type($lhs)
//! ```
//!
//! The first line has the operands, the attributes and the results; the second one is the `assemblyFormat`. Both directions, reading and
//! printing, go through the same elements. A row does not define the semantics of an operation, except for its effects where it has no
//! definition ([`OpDef`](crate::OpDef)): an operation may have a row, a definition, or both. The language of rows is in `docs/dialects.md`.

mod defaults;
mod format;
mod hooks;
mod row;
mod schema;
mod table;
mod types;

use std::sync::OnceLock;

use rustc_hash::FxHashMap;

use crate::registry::VerifyFn;

pub use defaults::write_defaults;
pub use hooks::{ArgName, OdsHook, OdsPrinter, OdsReader};
pub(crate) use row::words_text;
pub(crate) use schema::{
    Anchor, Arity, AttrKind, AttrPresence, Element, Layout, MAX_QUICK, OPERAND_SEGMENTS, OdsRow, Of, RESULT_SEGMENTS,
    RegionRow, Slot, TypeRule, Value,
};
pub(crate) use table::{OdsTable, Place};

/// The rows of a dialect.
#[derive(Clone, Copy)]
pub struct OdsRows {
    /// The dialect.
    pub dialect: &'static str,
    /// The rows, one after the other; `define NAME = TEXT` names a kind of attribute.
    pub rows: &'static str,
    /// The hooks that `custom<NAME>` in formats names.
    pub hooks: &'static [OdsHook],
    /// Verifies operations of the dialect that have no definition; their operands may be any in the generic form.
    pub verify: Option<VerifyFn>,
}

/// An operation of a row, which is read when it is first met.
pub struct Ods {
    pub(crate) hooks: &'static [OdsHook],
    pub(crate) verify: Option<VerifyFn>,
    dialect: &'static str,
    header: &'static str,
    format: &'static str,
    defines: std::sync::Arc<FxHashMap<&'static str, &'static str>>,
    row: OnceLock<Result<OdsRow, String>>,
}

impl std::fmt::Debug for Ods {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Ods")
            .field("header", &self.header)
            .finish_non_exhaustive()
    }
}

impl Ods {
    /// The content of the row.
    ///
    /// # Errors
    /// What is wrong with it.
    pub(crate) fn row(&self) -> Result<&OdsRow, &str> {
        let read = || row::read(self.dialect, self.header, self.format, self.hooks, &self.defines);
        self.row.get_or_init(read).as_ref().map_err(String::as_str)
    }

    /// The format.
    pub fn format(&self) -> &'static str {
        self.format.trim()
    }

    /// Checks the row.
    ///
    /// # Errors
    /// What is wrong with it.
    pub fn check(&self) -> Result<(), String> {
        self.row().map(|_| ()).map_err(str::to_owned)
    }
}
