//! MLIR's own dialects: `arith`, `math`, `scf`, `index`, `ub`, and the operations of `cf` and `func` that ours do not have.
//!
//! Operations without regions are rows in tables, as those of `pd` are; their types are inferred and checked by `infer` and
//! `verify`. Control flow is told by interfaces (`scf`, `branch`), so that passes work on it as on any other.

pub mod branch;
mod infer;
pub mod scf;
pub mod types;
mod verify;

use std::borrow::Cow;

use pir_ir::{Arity, AttrSpec, ContextBuilder, DialectDef, Traits, ValueSpec};

use crate::table::{Effects, Row, Speculate, definition};

pub(crate) use branch::definitions as branches;

/// The rows of each dialect, and its operations by type.
macro_rules! tables {
    ($($dialect:literal $rows:ident $typed:ident $doc:literal),*) => { $(
        mod $rows {
            use super::*;

            include!(concat!(env!("OUT_DIR"), "/", $dialect, "_ops.rs"));
        }

        #[doc = $doc]
        #[allow(missing_docs, reason = "each item is called like the operand, attribute or operation that it names")]
        #[allow(non_snake_case, reason = "attributes are called as in MLIR")]
        #[allow(unused_imports, reason = "which of them a table needs depends on its rows")]
        pub mod $typed {
            use pir_ir::{Attr, Context};

            use crate::typed::*;

            include!(concat!(env!("OUT_DIR"), "/", $dialect, "_typed.rs"));
        }
    )* };
}

tables! {
    "arith" arith_rows arith "The operations of `arith`.",
    "math" math_rows math "The operations of `math`.",
    "index" index_rows index "The operations of `index`.",
    "ub" ub_rows ub "The operations of `ub`."
}

/// Registers the dialects.
pub fn register(builder: &mut ContextBuilder) {
    for (name, summary, rows) in [
        ("arith", "Arithmetic of numbers, vectors and tensors", arith_rows::ROWS),
        ("math", "Functions of numbers, vectors and tensors", math_rows::ROWS),
        ("index", "Arithmetic of index", index_rows::ROWS),
        ("ub", "What is undefined", ub_rows::ROWS),
    ] {
        builder.register(DialectDef::new(name, summary), rows.iter().map(definition));
    }
    let scf = DialectDef::new("scf", "Structured control flow");
    builder.register(scf, scf::definitions());
}
