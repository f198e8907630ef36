//! Reading and creating constants.

use crate::pd;
use pir_ir::{Attr, AttrData, OpId, OpView, Rewriter, Type};

use super::{Folded, Number, constant};

/// `full`, `const`: the number, as an element of the result type.
pub(super) fn full(view: OpView<'_>, _: &[Option<Attr>]) -> Folded {
    if view.operand(0).is_some() {
        return None;
    }
    let elem = view.ctx.elem_type(view.result_type(0)?);
    let given = view.attr("value")?;
    let number = Number::of(view.ctx, given)?.as_elem(view.ctx, elem)?;
    constant(number.attr_from(view.ctx, given)?)
}

pub(super) fn full_int_array(view: OpView<'_>, _: &[Option<Attr>]) -> Folded {
    let value = view.attr("value")?;
    view.ctx.attr_ints(value)?;
    constant(value)
}

/// The result has the operand's shape; the elements of the operand are not used.
pub(super) fn full_like(view: OpView<'_>, _: &[Option<Attr>]) -> Folded {
    let ty = view.result_type(0)?;
    if view.operand(1).is_some() || !view.ctx.is_static(ty) {
        return None;
    }
    let value = view.attr("value").unwrap_or_else(|| view.ctx.float_attr(0.0));
    let number = Number::of(view.ctx, value)?.as_elem(view.ctx, view.ctx.elem_type(ty))?;
    constant(number.attr(view.ctx)?)
}

pub(super) fn shape(view: OpView<'_>, _: &[Option<Attr>]) -> Folded {
    let ty = view.operand_type(0)?;
    let (dims, _) = view.ctx.as_tensor(ty)?;
    if !view.ctx.is_static(ty) {
        return None;
    }
    constant(view.ctx.ints_attr(dims))
}

pub(super) fn numel(view: OpView<'_>, _: &[Option<Attr>]) -> Folded {
    let (dims, _) = view.ctx.as_tensor(view.operand_type(0)?)?;
    let count = dims
        .iter()
        .try_fold(1i64, |n, &d| if d < 0 { None } else { n.checked_mul(d) })?;
    constant(view.ctx.int_attr(count))
}

/// Creates a `pd.full`.
pub(super) fn make_full(rewriter: &mut Rewriter<'_>, value: Attr, ty: Type) -> Option<OpId> {
    let ctx = rewriter.ctx;
    let (dims, elem) = ctx.as_tensor(ty)?;
    if !ctx.is_static(ty) || !matches!(elem, Type::I1) && !is_number(ctx, elem) {
        return None;
    }
    let number = match ctx.attr_data(value) {
        AttrData::Ints(items) => match items[..] {
            [one] if dims.len() != 1 && dims.iter().all(|&d| d == 1) => Number::Int(one.into()),
            _ => return None,
        },
        _ => Number::of(ctx, value)?,
    };
    let value = number.as_elem(ctx, elem)?.attr(ctx)?;
    let (shape, dtype) = (ctx.ints_attr(dims), ctx.type_attr(elem));
    let full = rewriter
        .op(pd::Full::NAME)
        .attr("shape", shape)
        .attr("value", value)
        .attr("dtype", dtype);
    Some(full.result(ty).build())
}

fn is_number(ctx: &pir_ir::Context, elem: Type) -> bool {
    matches!(
        ctx.type_data(elem),
        pir_ir::TypeData::Integer { .. } | pir_ir::TypeData::Float(_)
    )
}

/// Creates a `pd.full_int_array`.
pub(super) fn make_int_array(rewriter: &mut Rewriter<'_>, value: Attr, ty: Type) -> Option<OpId> {
    let ctx = rewriter.ctx;
    let items = ctx.attr_ints(value)?;
    match ctx.as_tensor(ty)? {
        (&[length], elem @ (Type::I64 | Type::I32)) if usize::try_from(length) == Ok(items.len()) => {
            let dtype = ctx.type_attr(elem);
            let array = rewriter
                .op(pd::FullIntArray::NAME)
                .attr("value", value)
                .attr("dtype", dtype);
            Some(array.result(ty).build())
        }
        _ => None,
    }
}

/// Replaces `const` and `constant`, which abbreviate `full`.
pub(super) fn write_as_full(rewriter: &mut Rewriter<'_>, op: OpId, _: &[Option<Attr>]) -> bool {
    let view = rewriter.view(op);
    let (Some(value), Some(ty)) = (view.attr("value"), view.result_type(0)) else {
        return false;
    };
    let Some(full) = make_full(rewriter, value, ty) else {
        return false;
    };
    let new = rewriter.body.result(full, 0);
    rewriter.replace_op(op, &[new]);
    true
}
