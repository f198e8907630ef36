//! Induction semantics, used for trip counts.

use crate::pd;
use pir_ir::{Counting, OpView, Relation, TypeData, ValueId};

use super::{Number, arith};

/// Whether a value is a single integer.
pub(crate) fn is_one_integer(view: OpView<'_>, value: ValueId) -> bool {
    let ty = view.body.value_type(value);
    let dims = view.ctx.as_tensor(ty).map_or(&[][..], |(dims, _)| dims);
    dims.iter().all(|&d| d == 1)
        && matches!(
            view.ctx.type_data(view.ctx.elem_type(ty)),
            TypeData::Integer { width: 8.., .. }
        )
}

/// The constant integer of a value, if known.
fn known(view: OpView<'_>, value: Option<ValueId>) -> Option<i64> {
    i64::try_from(view.body.constant_int(view.ctx, value?)?).ok()
}

/// The operand at `index` plus a number, if that has the type of the result.
fn offset(view: OpView<'_>, index: usize, by: i64) -> Option<Counting> {
    let x = arith::unchanged(view, index)?;
    is_one_integer(view, x).then_some(Counting::Offset(x, by))
}

pub(crate) fn add(view: OpView<'_>) -> Option<Counting> {
    match (known(view, view.operand(0)), known(view, view.operand(1))) {
        (_, Some(by)) => offset(view, 0, by),
        (Some(by), _) => offset(view, 1, by),
        _ => None,
    }
}

pub(crate) fn subtract(view: OpView<'_>) -> Option<Counting> {
    offset(view, 0, known(view, view.operand(1))?.checked_neg()?)
}

pub(super) fn increment(view: OpView<'_>) -> Option<Counting> {
    let by = match view.attr("value") {
        None => Number::Int(1),
        Some(attr) => Number::of(view.ctx, attr)?.as_elem(view.ctx, view.ctx.elem_type(view.result_type(0)?))?,
    };
    match by {
        Number::Int(by) => offset(view, 0, i64::try_from(by).ok()?),
        _ => None,
    }
}

pub(super) fn comparison(view: OpView<'_>) -> Option<Counting> {
    let relation = match view.name() {
        pd::LessThan::NAME => Relation::Less,
        pd::LessEqual::NAME => Relation::LessEqual,
        pd::GreaterThan::NAME => Relation::Greater,
        pd::GreaterEqual::NAME => Relation::GreaterEqual,
        pd::NotEqual::NAME => Relation::NotEqual,
        _ => return None,
    };
    let (x, y) = (view.operand(0)?, view.operand(1)?);
    (is_one_integer(view, x) && is_one_integer(view, y)).then_some(Counting::Compare(x, relation, y))
}
