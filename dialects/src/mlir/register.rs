//! Registers the dialects.

use std::sync::Arc;

use pir_ir::{ContextBuilder, DialectDef, OpDef, Semantics};

use super::{fold, lower, rows, scf, scf_patterns, to_pd};
use crate::table::{self, Row};

/// Registers the dialects.
pub fn register(builder: &mut ContextBuilder) {
    for (name, summary, rows) in [
        ("arith", "Arithmetic of numbers, vectors and tensors", rows::arith()),
        ("math", "Functions of numbers, vectors and tensors", rows::math()),
        ("index", "Arithmetic of index", rows::index()),
        ("ub", "Undefined values", rows::ub()),
        ("memref", "Buffers", rows::memref()),
        ("tensor", "Tensors as values", rows::tensor()),
    ] {
        table::register(builder, DialectDef::new(name, summary), rows, with_rules);
    }
    let scf = DialectDef::new("scf", "Structured control flow");
    let with_semantics = |mut def: OpDef| {
        def.semantics = to_pd::find(&def.name).map(|control| Arc::new(control) as Arc<dyn Semantics>);
        def
    };
    builder.register(scf, scf::definitions().into_iter().map(with_semantics));
    fold::register_constants(builder);
    scf_patterns::register(builder);
    lower::register(builder);
}

/// Adds its folds and its induction semantics, by which trip counts are found.
fn with_rules(def: &mut OpDef, _: &Row) {
    def.fold = fold::fold(&def.name);
    def.counting = fold::counting(&def.name);
}
