//! Edits that make an operation fit, found by trying them on the inference of its types.

use crate::context::Context;
use crate::diagnostics::{Diagnostic, Part, Span};
use crate::entity::Sym;
use crate::plan::AttrKind;
use crate::registry::{InferArgs, InferFn};
use crate::text::writer::attr::print_attr;
use crate::types::{Attr, AttrData, DYNAMIC, Type, TypeData};

use super::describe::{compatible, describe_value};

/// Operations with more operands are not tried.
const MAX_OPERANDS: usize = 8;

/// Adds the first edit with which the inference of the operation at `span` succeeds, if there is one.
pub(super) fn make_fit(
    error: Diagnostic,
    args: InferArgs<'_>,
    infer: InferFn,
    span: Span,
) -> Result<Diagnostic, Diagnostic> {
    if args.operands.len() > MAX_OPERANDS {
        return Err(error);
    }
    if let Some((name, value, present)) = flipped(args, infer) {
        let error = error.help(format!("write `{name} = {value}`, which is valid for these shapes"));
        return Ok(match present {
            true => error.edit_part(span, Part::AttributeValue(name), value.to_string()),
            false => {
                let text = format!("{name} = {value}");
                error.edit_part(span, Part::NewAttribute, text)
            }
        });
    }
    if let &[a, b] = args.operands
        && a != b
        && infer(InferArgs {
            operands: &[b, a],
            ..args
        })
        .is_ok()
    {
        let [a, b] = [a, b].map(|value| describe_value(args.ctx, args.body, value));
        let error = error.help(format!("exchange the operands: `({b}, {a})`"));
        return Ok(match a.starts_with('%') && b.starts_with('%') {
            true => error
                .edit_part(span, Part::Operand(0), b)
                .edit_part(span, Part::Operand(1), a),
            false => error,
        });
    }
    Err(error)
}

/// A boolean attribute with whose other value the types fit: its name, that value, and whether it is written.
fn flipped(args: InferArgs<'_>, infer: InferFn) -> Option<(String, bool, bool)> {
    let ctx = args.ctx;
    args.def.attrs.iter().find_map(|spec| {
        if AttrKind::of(&spec.ty) != AttrKind::Bool {
            return None;
        }
        let written = args.attr(&spec.name).map(|attr| ctx.attr_data(attr));
        let value = match (written, spec.default.as_deref()) {
            (Some(AttrData::Bool(value)), _) => !value,
            (None, Some("false")) => true,
            (None, Some("true")) => false,
            _ => return None,
        };
        let attr = ctx.attr(AttrData::Bool(value));
        infer(with(args, ctx.sym(&spec.name), attr)).ok()?;
        Some((spec.name.to_string(), value, written.is_some()))
    })
}

/// The value of an attribute that follows from the types that are written for the results.
pub(crate) fn implied(
    args: InferArgs<'_>,
    infer: InferFn,
    results: &[Type],
    name: Sym,
    kind: AttrKind,
) -> Option<String> {
    let ctx = args.ctx;
    let &[first] = results else { return None };
    let attr = candidate(ctx, first, kind)?;
    let inferred = infer(with(args, name, attr)).ok()?;
    let fits = matches!(inferred[..], [ty] if compatible(ctx, ty, first));
    fits.then(|| print_attr(ctx, attr))
}

fn candidate(ctx: &Context, result: Type, kind: AttrKind) -> Option<Attr> {
    let TypeData::Tensor { shape, elem } = ctx.type_data(result) else {
        return None;
    };
    match kind {
        AttrKind::Ints | AttrKind::IntArray if !shape.contains(&DYNAMIC) => Some(ctx.ints_attr(shape)),
        AttrKind::ElementType => Some(ctx.type_attr(*elem)),
        _ => None,
    }
}

/// The same with another attribute in addition.
fn with(args: InferArgs<'_>, name: Sym, value: Attr) -> InferArgs<'_> {
    let mut entries = args.ctx.dict_entries(args.attrs).to_vec();
    entries.retain(|entry| entry.0 != name);
    entries.push((name, value));
    InferArgs {
        attrs: args.ctx.dict(&entries),
        ..args
    }
}
