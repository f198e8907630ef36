//! MLIR's own dialects: `arith`, `math`, `scf`, `index`, `ub`, and the operations of `cf` and `func` that ours do not have.
//!
//! Operations without regions are rows in tables, as those of `pd` are; their types are inferred and checked by `infer` and
//! `verify`. Control flow is declared by interfaces (`scf`, `branch`), so that passes work on it as on any other.

pub mod branch;
mod fold;
pub mod from_pd;
mod infer;
mod lower;
mod parallel;
mod rank_zero;
pub mod scf;
mod scf_patterns;
mod to_pd;
pub mod types;
mod verify;

use std::borrow::Cow;
use std::sync::Arc;

use pir_ir::{
    Arity, Attr, AttrData, AttrSpec, Context, ContextBuilder, DYNAMIC, DialectDef, OpDef, Rewriter, Semantics, Traits,
    Type, TypeData, ValueId, ValueSpec,
};

use crate::table::{Effects, Row, Speculate, definition};

pub(crate) use branch::definitions as branches;

/// What errors of operations of these dialects suggest.
const HELP: &str = "use the generic form, which `mlir-opt --mlir-print-op-generic` prints";

/// The rows of each dialect, and its operations by type.
macro_rules! tables {
    ($($dialect:literal $rows:ident $typed:ident $doc:literal),*) => { $(
        mod $rows {
            use super::*;

            include!(concat!(env!("OUT_DIR"), "/", $dialect, "_ops.rs"));
        }

        #[doc = $doc]
        #[allow(missing_docs, reason = "each item has the name of its operand, attribute or operation")]
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
    "ub" ub_rows ub "The operations of `ub`.",
    "memref" memref_rows memref "The operations of `memref`.",
    "tensor" tensor_rows tensor "The operations of `tensor`."
}

/// The attribute of an `arith.constant`, if there are constants of the type.
pub fn number(ctx: &Context, value: f64, ty: Type) -> Option<Attr> {
    match ctx.is_float(ty) {
        true => fold::typed(ctx, ctx.float_attr(value), ty),
        false => fold::typed(ctx, ctx.int_attr(value as i64), ty),
    }
}

/// A constant of type index.
pub fn index_constant(r: &mut Rewriter<'_>, value: i128) -> ValueId {
    let ty = Type::INDEX;
    let value = r.ctx.attr(AttrData::Int { value, ty });
    r.op(arith::Constant::NAME).attr("value", value).result(ty).value()
}

/// The extents of a tensor or a buffer that its type does not say, in their order; none of what has no known rank.
pub fn sizes(r: &mut Rewriter<'_>, value: ValueId) -> Vec<ValueId> {
    let ty = r.body.value_type(value);
    let shape = r.ctx.as_shaped(ty).map_or(&[][..], |(shape, _)| shape);
    let dim = match r.ctx.type_data(ty) {
        TypeData::MemRef { .. } => memref::Dim::NAME,
        _ => tensor::Dim::NAME,
    };
    let mut sizes = Vec::new();
    for (at, _) in shape.iter().enumerate().filter(|(_, extent)| **extent == DYNAMIC) {
        let at = index_constant(r, at as i128);
        sizes.push(r.op(dim).operands([value, at]).result(Type::INDEX).value());
    }
    sizes
}

/// Registers the dialects.
pub fn register(builder: &mut ContextBuilder) {
    for (name, summary, rows) in [
        ("arith", "Arithmetic of numbers, vectors and tensors", arith_rows::ROWS),
        ("math", "Functions of numbers, vectors and tensors", math_rows::ROWS),
        ("index", "Arithmetic of index", index_rows::ROWS),
        ("ub", "Undefined values", ub_rows::ROWS),
        ("memref", "Buffers", memref_rows::ROWS),
        ("tensor", "Tensors as values", tensor_rows::ROWS),
    ] {
        builder.register(DialectDef::new(name, summary), rows.iter().map(with_rules));
    }
    let scf = DialectDef::new("scf", "Structured control flow");
    let with_semantics = |mut def: OpDef| {
        def.semantics = to_pd::find(&def.name).map(|control| Arc::new(control) as Arc<dyn Semantics>);
        def.materialize = fold::materialize(&def.name);
        def
    };
    builder.register(scf, scf::definitions().into_iter().map(with_semantics));
    scf_patterns::register(builder);
    lower::register(builder);
}

/// The definition of a row, with its folds and what it has to do with counting.
fn with_rules(row: &Row) -> OpDef {
    let mut def = definition(row);
    def.fold = fold::fold(&def.name);
    def.materialize = fold::materialize(&def.name);
    def.counting = fold::counting(&def.name);
    def
}
