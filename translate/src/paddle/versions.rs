//! Differences of older versions of saved programs.
//!
//! The definition of a known operation determines the types of its attributes. An unknown operation is written back as
//! of the newest version: attributes whose types have changed since are converted.

use pir_dialects::pd;
use pir_ir::{Attr, AttrData, Context, Sym, Type};

/// The version that changed attributes of an operation, and the type of their numbers since.
const CHANGES: &[(i64, &str, &[&str], Type)] = &[
    (2, pd::LpPool2d::NAME, &["strides", "paddings"], Type::I64),
    (2, pd::Pool3d::NAME, &["kernel_size", "strides", "paddings"], Type::I64),
    (3, pd::Kthvalue::NAME, &["k"], Type::I64),
    (4, pd::Logit::NAME, &["eps"], Type::F64),
    (4, pd::TopPSampling::NAME, &["seed"], Type::I64),
    (4, pd::LinearInterp::NAME, &["scale"], Type::F64),
    (4, pd::NearestInterp::NAME, &["scale"], Type::F64),
    (4, pd::BilinearInterp::NAME, &["scale"], Type::F64),
    (4, pd::TrilinearInterp::NAME, &["scale"], Type::F64),
    (4, pd::BicubicInterp::NAME, &["scale"], Type::F64),
];

/// Attributes that a version added, with their values in older programs.
const ADDED: &[(i64, &str, &str, i128)] = &[(3, pd::RepeatInterleaveWithTensorIndex::NAME, "output_size", -1)];

/// Updates the attributes of an operation from an older version.
pub(super) fn update(ctx: &Context, version: i64, name: &str, attrs: &mut Vec<(Sym, Attr)>) {
    for &(_, _, names, ty) in CHANGES.iter().filter(|c| c.1 == name && version < c.0) {
        for (key, value) in attrs.iter_mut() {
            if names.contains(&ctx.str(*key)) {
                *value = of_type(ctx, *value, ty);
            }
        }
    }
    for &(_, _, key, value) in ADDED.iter().filter(|a| a.1 == name && version < a.0) {
        if !attrs.iter().any(|(k, _)| ctx.str(*k) == key) {
            attrs.push((ctx.sym(key), ctx.attr(AttrData::Int { value, ty: Type::I64 })));
        }
    }
}

/// A number, or a list of numbers, converted to a type.
fn of_type(ctx: &Context, attr: Attr, ty: Type) -> Attr {
    match ctx.attr_data(attr) {
        AttrData::Array(items) => {
            let items = items.iter().map(|&item| number(ctx, item, ty)).collect();
            ctx.attr(AttrData::Array(items))
        }
        _ => number(ctx, attr, ty),
    }
}

fn number(ctx: &Context, attr: Attr, ty: Type) -> Attr {
    match *ctx.attr_data(attr) {
        AttrData::Int { value, .. } if ty == Type::I64 => ctx.attr(AttrData::Int { value, ty }),
        AttrData::Float { bits, .. } if ty == Type::F64 => ctx.attr(AttrData::Float { bits, ty }),
        _ => attr,
    }
}
