//! Rules of conversions, whose results are written.

use pir_ir::text::print_type;
use pir_ir::verify::compatible;
use pir_ir::{AttrData, Context, Diagnostic, OpView, Type, TypeData};

use super::arith;
use super::types::{element, int_width, with_element};

/// How many bits a floating-point number has.
fn float_width(ctx: &Context, elem: Type) -> Option<u32> {
    Some(elem.float_kind(ctx)?.bits())
}

/// The operations that convert buffers, too.
const CONVERT_BUFFERS: [&str; 3] = [arith::IndexCast::NAME, arith::IndexCastui::NAME, arith::Bitcast::NAME];

/// Checks a conversion between element types.
type Rule = fn(&Context, Type, Type) -> Result<(), &'static str>;

/// Buffers are converted as well, by some operations.
fn of_buffers(ctx: &Context, from: Type, to: Type) -> Option<(Type, Type, bool)> {
    match (ctx.type_data(from), ctx.type_data(to)) {
        (
            TypeData::MemRef {
                shape: a,
                elem,
                layout,
                space,
            },
            TypeData::MemRef {
                shape: b,
                elem: to,
                layout: l,
                space: s,
            },
        ) => Some((*elem, *to, (a, layout, space) == (b, l, s))),
        _ => None,
    }
}

fn check(op: OpView<'_>, errors: &mut Vec<Diagnostic>, rule: Rule) {
    let (Some(from), Some(to)) = (op.operand_type(0), op.result_type(0)) else {
        return;
    };
    let (a, b) = (element(op.ctx, from), element(op.ctx, to));
    let buffers = of_buffers(op.ctx, from, to).filter(|_| CONVERT_BUFFERS.contains(&op.name()));
    let fits = match buffers {
        Some((a, b, fits)) => rule(op.ctx, a, b).map(|()| fits),
        None => rule(op.ctx, a, b).map(|()| compatible(op.ctx, with_element(op.ctx, from, b), to)),
    };
    let why = match fits {
        Err(why) => why,
        Ok(true) => return,
        Ok(false) => "the operand and the result must have the same shape",
    };
    let (from, to) = (print_type(op.ctx, from), print_type(op.ctx, to));
    let message = format!("`{}` cannot convert `{from}` to `{to}`: {why}", op.name());
    errors.push(
        Diagnostic::error("conversion", message)
            .label(op.body.op_span(op.op), "this conversion")
            .help(super::HELP),
    );
}

macro_rules! rules {
    ($($name:ident $rule:expr;)*) => { $(
        pub(super) fn $name(op: OpView<'_>, errors: &mut Vec<Diagnostic>) {
            check(op, errors, $rule);
        }
    )* };
}

/// The widths of two integer types other than index.
fn int_widths(ctx: &Context, a: Type, b: Type) -> Option<(u32, u32)> {
    let is_index = a == Type::INDEX || b == Type::INDEX;
    Some((int_width(ctx, a)?, int_width(ctx, b)?)).filter(|_| !is_index)
}

fn order<T: PartialOrd>(pair: Option<(T, T)>, kind: &'static str, wider: bool) -> Result<(), &'static str> {
    let (a, b) = pair.ok_or(kind)?;
    match (wider, a < b, a > b) {
        (true, true, _) | (false, _, true) => Ok(()),
        (true, ..) => Err("the result must be wider"),
        (false, ..) => Err("the result must be narrower"),
    }
}

const INTS: &str = "both must be signless integers";
const FLOATS: &str = "both must be floating-point numbers";

rules! {
    wider_int |ctx, a, b| order(int_widths(ctx, a, b), INTS, true);
    narrower_int |ctx, a, b| order(int_widths(ctx, a, b), INTS, false);
    wider_float |ctx, a, b| order(float_width(ctx, a).zip(float_width(ctx, b)), FLOATS, true);
    narrower_float |ctx, a, b| order(float_width(ctx, a).zip(float_width(ctx, b)), FLOATS, false);
    int_to_float |ctx, a, b| match int_widths(ctx, a, a).is_some() && b.float_kind(ctx).is_some() {
        true => Ok(()),
        false => Err("it converts a signless integer to a floating-point number"),
    };
    float_to_int |ctx, a, b| match int_widths(ctx, b, b).is_some() && a.float_kind(ctx).is_some() {
        true => Ok(()),
        false => Err("it converts a floating-point number to a signless integer"),
    };
    index_cast |ctx, a, b| match (int_width(ctx, a).is_some() && int_width(ctx, b).is_some(), a == Type::INDEX, b == Type::INDEX) {
        (true, true, false) | (true, false, true) => Ok(()),
        _ => Err("it converts between index and signless integers"),
    };
    bitcast |ctx, a, b| {
        let bits = |ty: Type| match ctx.type_data(ty) {
            TypeData::Index => None,
            TypeData::Integer { width, .. } => Some(*width),
            _ => float_width(ctx, ty),
        };
        match bits(a).is_some() && bits(a) == bits(b) {
            true => Ok(()),
            false => Err("both must have the same number of bits"),
        }
    };
}

/// A constant has the type of its value.
pub(super) fn constant(op: OpView<'_>, errors: &mut Vec<Diagnostic>) {
    let (Some(value), Some(ty)) = (op.attr("value"), op.result_type(0)) else {
        return;
    };
    let of_value = match op.ctx.attr_data(value) {
        AttrData::Bool(_) => Some(Type::I1),
        AttrData::Int { ty, .. } | AttrData::Float { ty, .. } => Some(*ty),
        AttrData::Elements(elements) => Some(elements.ty()),
        AttrData::Opaque(_) => None,
        _ => Some(Type::NONE),
    };
    let elem = element(op.ctx, ty);
    let signed = matches!(op.ctx.type_data(elem), TypeData::Integer { .. }) && int_width(op.ctx, elem).is_none();
    let why = match of_value {
        Some(of) if of != ty => "`value` must have the type of the result",
        _ if signed => "its elements must be signless integers",
        _ => return,
    };
    let message = format!("`{}`: {why}, found `{}`", op.name(), print_type(op.ctx, ty));
    errors.push(
        Diagnostic::error("result-type", message)
            .label(op.body.op_span(op.op), "this constant")
            .help(super::HELP),
    );
}

fn report(op: OpView<'_>, why: &str, errors: &mut Vec<Diagnostic>) {
    let message = format!("`{}`: {why}", op.name());
    errors.push(
        Diagnostic::error("buffer", message)
            .label(op.body.op_span(op.op), "this operation")
            .help(super::HELP),
    );
}

/// The result is a buffer.
pub(super) fn buffer(op: OpView<'_>, errors: &mut Vec<Diagnostic>) {
    let is_buffer = |ty| matches!(op.ctx.type_data(ty), TypeData::MemRef { shape: Some(_), .. });
    if !op.result_type(0).is_some_and(is_buffer) {
        report(op, "the result must be a `memref` of known rank", errors);
    }
}

/// An element of the operand `of`, a tensor or a buffer, with an index for each dimension.
fn access(op: OpView<'_>, of: usize, value: Option<Type>, errors: &mut Vec<Diagnostic>, is_buffer: bool) {
    let is_meant = |ty: &Type| match op.ctx.type_data(*ty) {
        TypeData::Tensor { .. } | TypeData::EncodedTensor { .. } => !is_buffer,
        TypeData::MemRef { .. } => is_buffer,
        _ => false,
    };
    let indices = op.body.operands(op.op).skip(of + 1);
    let are_indices = indices.clone().all(|v| op.body.value_type(v) == Type::INDEX);
    match op
        .operand_type(of)
        .filter(is_meant)
        .and_then(|ty| op.ctx.as_elements(ty))
    {
        Some((shape, _)) if shape.len() != indices.len() || !are_indices => {
            report(op, "it needs an index for each dimension", errors);
        }
        Some((_, elem)) if Some(elem) != value => {
            report(op, "the value must have the element type", errors);
        }
        Some(_) => {}
        None if is_buffer => report(op, "it needs a `memref` of known rank", errors),
        None => report(op, "it needs a tensor of known rank", errors),
    }
}

pub(super) fn extract(op: OpView<'_>, errors: &mut Vec<Diagnostic>) {
    access(op, 0, op.result_type(0), errors, false);
}

pub(super) fn insert(op: OpView<'_>, errors: &mut Vec<Diagnostic>) {
    access(op, 1, op.operand_type(0), errors, false);
    if op.result_type(0) != op.operand_type(1) {
        report(op, "the result must have the type of the tensor", errors);
    }
}

pub(super) fn load(op: OpView<'_>, errors: &mut Vec<Diagnostic>) {
    access(op, 0, op.result_type(0), errors, true);
}

pub(super) fn store(op: OpView<'_>, errors: &mut Vec<Diagnostic>) {
    access(op, 1, op.operand_type(0), errors, true);
}
