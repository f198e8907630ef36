//! The semantics of operations of `affine`, `linalg` and `vector`, in terms of `scf`, `arith`, `memref` and `tensor`, and of some operations
//! of the last two.
//!
//! These dialects only declare the text and the effects of some operations; the interpreter, `backward` and the passes `lower-affine` and
//! `convert-linalg-to-loops` use the expansion.

mod affine;
mod composed;
mod emit;
mod linalg;
mod map;
pub(crate) mod named;
mod vectors;

use std::sync::Arc;

use pir_ir::{Attr, AttrData, AttrDict, Context, ContextBuilder, Rewriter, ValueId};

use crate::control::{Control, Parts};
use crate::mlir::arith;

/// Registers the expansions.
pub(super) fn register(builder: &mut ContextBuilder) {
    for (name, expand) in affine::EXPANSIONS.iter().chain(composed::EXPANSIONS) {
        builder.register_semantics(*name, Arc::new(Control::new(*expand)));
    }
    for (name, expand) in linalg::all() {
        builder.register_semantics(name, Arc::new(expand));
    }
    for (name, expand) in vectors::all() {
        let expand = Control::new(move |r, parts| {
            vectors::check(r, parts)?;
            expand(r, parts)
        });
        builder.register_semantics(name, Arc::new(expand));
    }
}

/// Whether an operation is known by its expansion alone: one of `affine` or `linalg`, or one that is composed of others.
pub fn is_lowered(name: &str) -> bool {
    let composed = || composed::EXPANSIONS.iter().any(|&(composed, _)| composed == name);
    name.starts_with("affine.") || name.starts_with("linalg.") || composed()
}

/// The operands of an operation in `count` groups, by `operandSegmentSizes`.
fn segments<'a>(r: &Rewriter<'_>, parts: &Parts<'a>, count: usize) -> Result<Vec<&'a [ValueId]>, String> {
    let sizes = attr(r, parts, "operandSegmentSizes");
    let sizes = sizes.and_then(|attr| crate::mlir::ints(r.ctx, attr));
    let sizes = sizes.filter(|sizes| sizes.len() == count);
    let sizes = sizes.ok_or_else(|| format!("expected {count} groups of operands"))?;
    let mut left = parts.operands;
    let mut groups = Vec::new();
    for size in sizes {
        let size = usize::try_from(size).ok().filter(|&size| size <= left.len());
        let (group, behind) = left.split_at(size.ok_or("its groups have more operands than it has")?);
        groups.push(group);
        left = behind;
    }
    match left.is_empty() {
        true => Ok(groups),
        false => Err("its groups have fewer operands than it has".to_owned()),
    }
}

/// An attribute of the operation. Those that are properties are kept apart where nothing else is known of the operation.
fn attr(r: &Rewriter<'_>, parts: &Parts<'_>, name: &str) -> Option<Attr> {
    property(r.ctx, parts.attrs, name)
}

/// The same of the attributes of an operation.
pub(crate) fn property(ctx: &Context, attrs: AttrDict, name: &str) -> Option<Attr> {
    let found = ctx.dict_get(attrs, name);
    found.or_else(|| match ctx.attr_data(ctx.dict_get(attrs, "<{}>")?) {
        AttrData::Dict(dict) => ctx.dict_get(*dict, name),
        _ => None,
    })
}

/// An integer among the attributes.
fn integer(r: &Rewriter<'_>, parts: &Parts<'_>, name: &str) -> Option<i128> {
    match r.ctx.attr_data(attr(r, parts, name)?) {
        AttrData::Int { value, .. } => Some(*value),
        _ => None,
    }
}

/// The operation of a kind of atomic update (`memref.atomic_rmw`, the reductions of `affine.parallel`), by MLIR's number;
/// `Some(None)` where the new value is stored as it is.
fn atomic_kind(kind: i128) -> Option<Option<&'static str>> {
    KINDS.get(usize::try_from(kind).ok()?).copied()
}

const KINDS: &[Option<&str>] = &[
    Some(arith::Addf::NAME),
    Some(arith::Addi::NAME),
    None,
    Some(arith::Maximumf::NAME),
    Some(arith::Maxsi::NAME),
    Some(arith::Maxui::NAME),
    Some(arith::Minimumf::NAME),
    Some(arith::Minsi::NAME),
    Some(arith::Minui::NAME),
    Some(arith::Mulf::NAME),
    Some(arith::Muli::NAME),
    Some(arith::Ori::NAME),
    Some(arith::Andi::NAME),
    Some(arith::Maxnumf::NAME),
    Some(arith::Minnumf::NAME),
];
