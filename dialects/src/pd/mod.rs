//! `pd`: tensors, declared in op tables, and control flow.
//!
//! An operation of a table takes tensors as operands and numbers, lists and types as attributes. What the tables call
//! `IntArray` and `Scalar` (axes, shapes, factors) is an attribute when it is constant, and may else be an operand
//! behind the tensors, in the order of the declaration.

mod branches;
pub(crate) mod condition;
pub(crate) mod control;
mod expr;
mod fold;
mod handles;
pub(crate) mod infer;
mod loops;
pub(crate) mod schema;
mod table;
mod typed;
mod verify;

use pir_ir::{ContextBuilder, DialectDef};

pub use control::{is_if, is_while, role};
pub use expr::{Building, Emitter, Expr, Scope, evaluate};
pub use handles::Handles;
pub(crate) use table::INFERENCES;
pub use table::family;
pub use typed::ops::*;
pub use typed::{Branch, ConditionBranch, If, IfGrad, While, WhileGrad};
pub use typed::{Given, Ints, Number, Operand, Operation, Options, Source, Unary, View, index_of};

/// Registers the dialect.
pub fn register(builder: &mut ContextBuilder) {
    let dialect = DialectDef {
        name: "pd".into(),
        summary: "Tensors and structured control flow".into(),
        types: Vec::new(),
    };
    let folds = fold::Folds::new();
    let tabled = table::definitions().map(|mut def| {
        folds.attach(&mut def);
        def
    });
    builder.register(dialect, tabled.chain(control::definitions()));
    // As PaddlePaddle has them.
    builder
        .register_alias("pd.yield", "cf.yield")
        .register_list_type("pd.vec");
}
