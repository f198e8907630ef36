//! Operations that move or copy elements.

use pir_ir::{Attr, OpId, OpView, Rewriter, Signedness, Type, TypeData};

use super::{Folded, Number, constant, number, value};

/// For operations whose result consists of the operand's elements in order, possibly repeated: the result is the
/// operand if the types are equal and static. A uniform operand gives a uniform result.
pub(super) fn unchanged(view: OpView<'_>, constants: &[Option<Attr>]) -> Folded {
    let (x, ty) = (view.operand(0)?, view.operand_type(0)?);
    if view.ctx.is_static(ty) && view.result_type(0) == Some(ty) {
        return value(x);
    }
    same_number(view, constants)
}

/// A uniform operand gives a uniform result.
fn same_number(view: OpView<'_>, constants: &[Option<Attr>]) -> Folded {
    let number = number(view, constants, 0)?.attr(view.ctx)?;
    constant(Some(number).filter(|_| view.result_type(0).is_some_and(|ty| view.ctx.is_static(ty)))?)
}

/// The result is the operand if the types are equal, static or not.
pub(super) fn same_type(view: OpView<'_>, _: &[Option<Attr>]) -> Folded {
    value(
        view.operand(0)
            .filter(|_| view.operand_type(0) == view.result_type(0))?,
    )
}

pub(super) fn cast(view: OpView<'_>, constants: &[Option<Attr>]) -> Folded {
    if let Some(x) = same_type(view, constants) {
        return Some(x);
    }
    let (from, to) = (view.operand_type(0)?, view.result_type(0)?);
    let (from, elem) = (view.ctx.elem_type(from), view.ctx.elem_type(to));
    // The constant may have more digits than its element type.
    let number = match (number(view, constants, 0)?, from) {
        (Number::Float(f), Type::F32) => Number::Float(f64::from(f as f32)),
        (Number::Float(_), other) if other != Type::F64 => return None,
        (number, _) => number,
    };
    constant(
        number
            .as_elem(view.ctx, elem)
            .filter(|_| view.ctx.is_static(to))?
            .attr(view.ctx)?,
    )
}

/// Whether every number of the type `from` is exact in the type `to`.
fn holds_all(view: OpView<'_>, from: Type, to: Type) -> bool {
    let bits = |ty| match *view.ctx.type_data(ty) {
        TypeData::Integer { width, sign } if sign != Signedness::Unsigned => Some(width),
        _ => None,
    };
    match (bits(from), bits(to)) {
        _ if from == Type::I1 && to != Type::I1 => true,
        (Some(a), Some(b)) => a <= b && to != Type::I1,
        (Some(a), None) => (to == Type::F64 && a <= 32) || (to == Type::F32 && a <= 16),
        (None, _) => {
            (to == Type::F64 && view.ctx.is_float(from))
                || (to == Type::F32 && from != Type::F64 && view.ctx.is_float(from))
        }
    }
}

/// If the first of two conversions is lossless, it is redundant.
pub(super) fn cast_of_cast(rewriter: &mut Rewriter<'_>, op: OpId, _: &[Option<Attr>]) -> bool {
    let view = rewriter.view(op);
    let inner = view.operand(0).and_then(|x| view.body.defining_op(x));
    let inner = inner
        .map(|inner| view.body.view(view.ctx, inner))
        .filter(|inner| inner.name() == view.name() && view.body.num_operands(inner.op) == 1);
    let Some(x) = inner.and_then(|i| i.operand(0)) else {
        return false;
    };
    let elem = |v| view.ctx.elem_type(view.body.value_type(v));
    let between = view.operand(0).map(elem);
    if !between.is_some_and(|between| holds_all(view, elem(x), between)) {
        return false;
    }
    rewriter.body.set_operand(op, 0, x);
    true
}

/// A concatenation of one tensor.
pub(super) fn concat(view: OpView<'_>, _: &[Option<Attr>]) -> Folded {
    let one = view.body.num_operands(view.op) == 1 && view.operand_type(0) == view.result_type(0);
    value(view.operand(0).filter(|_| one)?)
}

/// If the shapes are equal, nothing is summed.
pub(super) fn reduce_as(view: OpView<'_>, constants: &[Option<Attr>]) -> Folded {
    let known = view.operand_type(0).is_some_and(|ty| view.ctx.is_static(ty));
    same_type(view, constants).filter(|_| known)
}

fn is_identity(perm: &[i64]) -> bool {
    perm.iter().enumerate().all(|(at, &p)| p == at as i64)
}

/// The permutation of a transposition, as non-negative axes.
fn perm(view: OpView<'_>) -> Option<Vec<i64>> {
    let perm = view.ints("perm")?;
    let rank = perm.len() as i64;
    perm.iter()
        .map(|&p| Some(if p < 0 { p + rank } else { p }).filter(|p| (0..rank).contains(p)))
        .collect()
}

pub(super) fn transpose(view: OpView<'_>, _: &[Option<Attr>]) -> Folded {
    let same = view.operand_type(0) == view.result_type(0);
    value(
        view.operand(0)
            .filter(|_| same && perm(view).is_some_and(|p| is_identity(&p)))?,
    )
}

/// Composes two transpositions; the identity is folded afterwards.
pub(super) fn transpose_of_transpose(rewriter: &mut Rewriter<'_>, op: OpId, _: &[Option<Attr>]) -> bool {
    let view = rewriter.view(op);
    let inner = view.operand(0).and_then(|x| view.body.defining_op(x));
    let inner = inner
        .map(|inner| view.body.view(view.ctx, inner))
        .filter(|inner| inner.name() == view.name());
    let Some(inner) = inner else { return false };
    let (Some(outer_perm), Some(inner_perm), Some(x)) = (perm(view), perm(inner), inner.operand(0)) else {
        return false;
    };
    let both: Option<Vec<i64>> = outer_perm
        .iter()
        .map(|&p| inner_perm.get(p as usize).copied())
        .collect();
    let Some(both) = both else { return false };
    let attrs = view
        .ctx
        .dict_with(view.body.attrs(op), "perm", view.ctx.ints_attr(&both));
    rewriter.body.set_attrs(op, attrs);
    rewriter.body.set_operand(op, 0, x);
    true
}

/// The first of two reshapes is redundant.
pub(super) fn reshape_of_reshape(rewriter: &mut Rewriter<'_>, op: OpId, _: &[Option<Attr>]) -> bool {
    let view = rewriter.view(op);
    let inner = view.operand(0).and_then(|x| view.body.defining_op(x));
    let inner = inner
        .map(|inner| view.body.view(view.ctx, inner))
        .filter(|inner| inner.name() == view.name());
    let (Some(x), Some(ty)) = (inner.and_then(|i| i.operand(0)), view.result_type(0)) else {
        return false;
    };
    // An extent of 0 or -1 refers to the operand; a static shape can be spelled out.
    let Some((dims, _)) = view.ctx.as_tensor(ty).filter(|_| view.ctx.is_static(ty)) else {
        return false;
    };
    if view.body.num_operands(op) != 1 || dims.contains(&0) {
        return false;
    }
    let attrs = view
        .ctx
        .dict_with(view.body.attrs(op), "shape", view.ctx.ints_attr(dims));
    rewriter.body.set_attrs(op, attrs);
    rewriter.body.set_operand(op, 0, x);
    true
}
