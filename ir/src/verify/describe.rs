//! Values and types in messages, and when types are compatible.

use crate::body::{Body, ValueDef};
use crate::context::Context;
use crate::diagnostics::{Diagnostic, Span};
use crate::entity::ValueId;
use crate::registry::{InferArgs, InferFn};
use crate::text::writer::attr::print_type;
use crate::types::{DYNAMIC, Type, TypeData};

use super::advice::make_fit;

/// A value as the reader of a message knows it: by its name, or by its place.
pub fn describe_value(ctx: &Context, body: &Body, value: ValueId) -> String {
    match (body.value_name(value), body.value_def(value)) {
        (Some(name), ValueDef::Result(_, index)) if name.pack => format!("%{}#{index}", ctx.name_text(name.name)),
        (Some(name), _) => format!("%{}", ctx.name_text(name.name)),
        (None, ValueDef::Result(op, index)) if body.num_results(op) > 1 => {
            format!("result {index} of `{}`", ctx.op_str(body.op_name(op)))
        }
        (None, ValueDef::Result(op, _)) => format!("the result of `{}`", ctx.op_str(body.op_name(op))),
        (None, ValueDef::Arg(_, index)) => format!("block argument {index}"),
        (None, ValueDef::None) => value.to_string(),
    }
}

/// The maximum number of operands whose definitions are reported.
const MAX_OPERANDS: usize = 4;

/// Says why the types of results do not follow from the operands and attributes of the operation at `span`, and what the
/// operands are.
pub(crate) fn does_not_fit(args: InferArgs<'_>, infer: InferFn, why: &str, span: Span) -> Diagnostic {
    let InferArgs {
        ctx,
        body,
        def,
        operands,
        ..
    } = args;
    // A reason may determine what to do.
    let (why, advice) = why
        .split_once("; ")
        .map_or((why, None), |(why, advice)| (why, Some(advice)));
    let mut error = Diagnostic::error("inference", format!("`{}`: {why}", def.name)).label(span, "here");
    let mut seen: Vec<ValueId> = Vec::new();
    // One alone fits itself: there it is the number of operands, or an attribute.
    for &value in operands.iter().filter(|_| operands.len() > 1) {
        if seen.contains(&value) || seen.len() == MAX_OPERANDS {
            continue;
        }
        seen.push(value);
        let name = describe_value(ctx, body, value);
        let ty = describe_type(ctx, body.value_type(value));
        error = match body.defining_op(value) {
            Some(op) => error.label(body.op_span(op), format!("{name} is `{ty}`")),
            None => error.note(format!("{name} is `{ty}`")),
        };
    }
    match advice {
        Some(advice) => error.help(advice),
        None => make_fit(error, args, infer, span).unwrap_or_else(|error| {
            error.help(format!(
                "change the operands or the attributes; `{}`: {}",
                def.name, def.summary
            ))
        }),
    }
}

/// Types are cut to this length in messages.
const MAX_TYPE: usize = 200;

/// A type as it is written, as far as a message is readable.
pub fn describe_type(ctx: &Context, ty: Type) -> String {
    let mut text = print_type(ctx, ty);
    if let Some((at, _)) = text.char_indices().nth(MAX_TYPE) {
        text.truncate(at);
        text.push('…');
    }
    text
}

/// Whether a value of one type may be used as one of the other: they are equal, or tensors whose known dimensions
/// agree (`tensor<?xf32>` and `tensor<4xf32>`), or lists of such.
#[inline]
pub fn compatible(ctx: &Context, a: Type, b: Type) -> bool {
    a == b || are_compatible(ctx, a, b)
}

fn are_compatible(ctx: &Context, a: Type, b: Type) -> bool {
    let mut pending = vec![(a, b)];
    while let Some((a, b)) = pending.pop() {
        if a == b {
            continue;
        }
        match (ctx.type_data(a), ctx.type_data(b)) {
            (TypeData::Tensor { shape: sa, elem: ea }, TypeData::Tensor { shape: sb, elem: eb }) => {
                let fits = |(&x, &y): (&i64, &i64)| x == y || x == DYNAMIC || y == DYNAMIC;
                if ea != eb || sa.len() != sb.len() || !sa.iter().zip(sb.iter()).all(fits) {
                    return false;
                }
            }
            (TypeData::List(a), TypeData::List(b)) if a.len() == b.len() => {
                pending.extend(a.iter().copied().zip(b.iter().copied()));
            }
            _ => return false,
        }
    }
    true
}
