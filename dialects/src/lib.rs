//! The dialects of pir-opt: `builtin`, `func`, `pd`, `cf` and `df`, and those of other systems.
//!
//! Tensor operations are declared in the op tables of [`pd`]; what a table cannot express (regions, effects on stacks,
//! control flow) is declared in Rust, in one file per dialect. [`marks`] defines the attributes that the tools set on
//! operations of any dialect.

#![forbid(unsafe_code)]

pub mod builtin;
pub mod cf;
mod control;
mod declare;
pub mod df;
pub mod einsum;
mod external;
pub mod formats;
pub mod func;
pub mod marks;
pub mod mlir;
mod ods;
pub mod pd;
pub mod stablehlo;
mod table;
mod typed;
pub mod user;
pub mod window;

use std::sync::Arc;

use pir_ir::{Context, ContextBuilder};

/// Registers all dialects.
pub fn register_all(builder: &mut ContextBuilder) {
    builtin::register(builder);
    func::register(builder);
    cf::register(builder);
    df::register(builder);
    pd::register(builder);
    stablehlo::register(builder);
    mlir::register(builder);
    marks::register(builder);
    ods::register(builder);
    external::register(builder);
}

/// A context with all dialects.
pub fn context() -> Arc<Context> {
    let mut builder = ContextBuilder::new();
    register_all(&mut builder);
    builder.build()
}
