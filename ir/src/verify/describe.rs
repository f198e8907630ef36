//! Values and types in messages, and when types are compatible.

use crate::body::{Body, ValueDef};
use crate::context::Context;
use crate::entity::ValueId;
use crate::types::{DYNAMIC, FloatKind, Signedness, Type, TypeData};

/// A value as the reader of a message knows it: by its name, or by its place.
pub fn describe_value(ctx: &Context, body: &Body, value: ValueId) -> String {
    match (body.value_name(value), body.value_def(value)) {
        (Some(name), ValueDef::Result(_, index)) if name.pack => format!("%{}#{index}", ctx.str(name.sym)),
        (Some(name), _) => format!("%{}", ctx.str(name.sym)),
        (None, ValueDef::Result(op, index)) if body.num_results(op) > 1 => {
            format!("result {index} of `{}`", ctx.op_str(body.op_name(op)))
        }
        (None, ValueDef::Result(op, _)) => format!("the result of `{}`", ctx.op_str(body.op_name(op))),
        (None, ValueDef::Arg(_, index)) => format!("block argument {index}"),
        (None, ValueDef::None) => value.to_string(),
    }
}

/// A type as it is written. Types nested deeper than a message is readable are left out.
pub fn describe_type(ctx: &Context, ty: Type) -> String {
    let mut out = String::new();
    write_type(ctx, ty, 8, &mut out);
    out
}

fn write_list(ctx: &Context, types: &[Type], depth: usize, out: &mut String) {
    for (at, &ty) in types.iter().enumerate() {
        out.push_str(if at == 0 { "" } else { ", " });
        write_type(ctx, ty, depth, out);
    }
}

fn write_type(ctx: &Context, ty: Type, depth: usize, out: &mut String) {
    // The recursion is bounded by `depth`.
    let Some(depth) = depth.checked_sub(1) else {
        out.push('…');
        return;
    };
    match ctx.type_data(ty) {
        TypeData::Integer { width, sign } => {
            out.push_str(match sign {
                Signedness::Signless => "i",
                Signedness::Signed => "si",
                Signedness::Unsigned => "ui",
            });
            out.push_str(&width.to_string());
        }
        TypeData::Float(kind) => out.push_str(match kind {
            FloatKind::F16 => "f16",
            FloatKind::BF16 => "bf16",
            FloatKind::F32 => "f32",
            FloatKind::F64 => "f64",
        }),
        TypeData::Index => out.push_str("index"),
        TypeData::None => out.push_str("none"),
        TypeData::Tensor { shape, elem } => {
            out.push_str("tensor<");
            for &dim in shape {
                match dim {
                    DYNAMIC => out.push('?'),
                    dim => out.push_str(&dim.to_string()),
                }
                out.push('x');
            }
            write_type(ctx, *elem, depth, out);
            out.push('>');
        }
        TypeData::Function { inputs, results } => {
            out.push('(');
            write_list(ctx, inputs, depth, out);
            out.push_str(") -> (");
            write_list(ctx, results, depth, out);
            out.push(')');
        }
        TypeData::List(types) => {
            out.push_str("vec<");
            write_list(ctx, types, depth, out);
            out.push('>');
        }
        TypeData::Dialect(text) | TypeData::Opaque(text) => out.push_str(text),
    }
}

/// Whether a value of one type may be used as one of the other: they are equal, or tensors whose known dimensions
/// agree (`tensor<?xf32>` and `tensor<4xf32>`), or lists of such.
pub fn compatible(ctx: &Context, a: Type, b: Type) -> bool {
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
